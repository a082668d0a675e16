/// Marks a function that programs call by its plain name, as libgomp's.
#pragma once

#define SDSM_ENTRY extern "C" __attribute__((visibility("default")))
