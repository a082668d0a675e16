#include "placement_probe.c"
