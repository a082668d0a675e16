// Built as loaded.so with -O2 -shared -fPIC
static int calls;
int call(int* shared) {
  __atomic_fetch_add(shared, 1, __ATOMIC_SEQ_CST);
  return ++calls;
}
