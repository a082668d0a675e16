#include "tests/workloads/programs/placement_probe.c"
