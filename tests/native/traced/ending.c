/* Ends as its argument says. */
#include <dlfcn.h>
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int* nowhere;
static int rounds;

static void* do_nothing(void* argument) {
  return argument;
}

static void* allocate(void* argument) {
  char* volatile block = malloc(100); /* volatile: the compiler knows what free does */
  free(block);
  return argument;
}

/* Regions, as many as the way says. */
static void work_more(const char* way) {
  if (strcmp(way, "random") == 0) {
    unsigned short number = 0;
    if (getentropy(&number, sizeof number) != 0) abort();
    /* Another number of regions in each run. */
    const int count = 1 + number % 1000;
    for (int i = 0; i < count; ++i) {
#pragma omp parallel
      {
#pragma omp atomic
        ++rounds;
      }
    }
  }
  if (strcmp(way, "sum") == 0) {
    /* As many regions as the numbers on stdin say. */
    int number = 0;
    while (scanf("%d", &number) == 1) {
      for (int i = 0; i < number; ++i) {
#pragma omp parallel
        __asm__ volatile("" ::: "memory"); /* keeps the region */
      }
    }
  }
  if (strcmp(way, "team") == 0) {
    /* Larger than what was asked for. */
#pragma omp parallel num_threads(8)
    __asm__ volatile("" ::: "memory"); /* keeps the region */
  }
}

/* With memory that has been protected since it was written. */
static int start_another(const char* way) {
  if (strcmp(way, "shell") == 0) {
    /* A command in traced memory, which has been protected since it was written. */
    char* command = malloc(8192);
    strcpy(command, "test -z \"$LD_PRELOAD\" && echo from the shell");
#pragma omp parallel
    __asm__ volatile("" ::: "memory"); /* keeps the region */
    return system(command) == 0 ? 0 : 1;
  }
  if (strcmp(way, "fork") == 0 || strcmp(way, "fork_shared") == 0) {
    const int sharing = strcmp(way, "fork") == 0 ? MAP_PRIVATE : MAP_SHARED;
    int* shared = mmap(NULL, 8192, PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS, -1, 0);
    shared[0] = 4;
#pragma omp parallel
    __asm__ volatile("" ::: "memory"); /* keeps the region */
    const pid_t child = fork();
    if (child == 0) {
      int total = 0;
#pragma omp parallel reduction(+ : total)
      total += shared[0];
      _exit(total > 0 ? 0 : 1);
    }
    int status = 1;
    return waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;
  }
  return 0;
}

int main(int argc, char** argv) {
  const char* way = argc > 1 ? argv[1] : "";
#pragma omp parallel
  {
#pragma omp atomic
    ++rounds;
  }
  if (strcmp(way, "status") == 0) return 3;
  if (strcmp(way, "print") == 0) puts("from the program");
  if (strcmp(way, "note") == 0) {
    /* Leaves a line for each run. */
    FILE* notes = fopen(argv[2], "a");
    if (notes != NULL) {
      fputs("run\n", notes);
      fclose(notes);
    }
  }
  if (strcmp(way, "crash") == 0) return *nowhere;
  if (strcmp(way, "abort") == 0) abort();
  if (strcmp(way, "exec") == 0) execlp("true", "true", (char*)NULL);
  if (strcmp(way, "thread") == 0) {
    pthread_t thread;
    return pthread_create(&thread, NULL, do_nothing, NULL);
  }
  if (strcmp(way, "thread of a library") == 0) {
    pthread_t thread;
    int (*create)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
    *(void**)&create = dlsym(dlopen("libc.so.6", RTLD_NOW), "pthread_create");
    return create(&thread, NULL, allocate, NULL) == 0 ? pthread_join(thread, NULL) : 1;
  }
  if (strcmp(way, "freed") == 0) {
    char* volatile block = malloc(100); /* volatile: the compiler knows what free does */
    free(block);
    block = realloc(block, 90);
    return block == NULL;
  }
  work_more(way);
  return start_another(way);
}
