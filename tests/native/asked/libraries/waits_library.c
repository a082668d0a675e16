// Built as waits_library.so with -O2 -shared -fPIC
void wait_for_other(void);
__attribute__((constructor)) static void begin(void) {
  wait_for_other();
}
