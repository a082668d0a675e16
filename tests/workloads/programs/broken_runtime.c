/* A run-time under which parallel regions are never run: the programs' own checks must notice. */
void GOMP_parallel(void (*region)(void*), void* data, unsigned threads, unsigned flags);

void GOMP_parallel(void (*region)(void*), void* data, unsigned threads, unsigned flags) {
  (void)region;
  (void)data;
  (void)threads;
  (void)flags;
}
