// `aio_*`: the program calls aio_read:
#define _GNU_SOURCE
#include <aio.h>
#include <omp.h>
#include <stddef.h>

static struct aiocb request;

int main(void) {
  if (omp_in_parallel()) return 4;  // so that it uses OpenMP
  return aio_read(&request);
}
