// Built as libneeds_hidden.so with -O2 -fno-openmp -shared -fPIC -Wl,-rpath,$ORIGIN -L. -lhidden
double hidden(int);
double library(int n) {
  return hidden(n);
}
