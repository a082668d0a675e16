// `acc_*`: the program calls acc_get_num_devices: OpenACC is not OpenMP
#include <omp.h>

int acc_get_num_devices(int type);

int main(void) {
  if (omp_in_parallel()) return 4;  // so that it uses OpenMP
  return acc_get_num_devices(0);
}
