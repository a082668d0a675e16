extern "C" [[gnu::visibility("hidden")]] int __cxa_atexit(void (*destructor)(void*), void* object, void* library);

/// The service thread works until the process is gone, so no object of the run-time may end before. The C library would
/// destroy them when the program calls exit(): here their destructors are never registered. Hidden, so that what the
/// program registers goes to the C library as ever.
int __cxa_atexit(void (* /*destructor*/)(void*), void* /*object*/, void* /*library*/) {
  return 0;
}
