// Texts of affinity formats by each thread, in their order. What the machine decides is left out.
#include <omp.h>
#include <stdio.h>
#include <string.h>
static void capture(const char* format) {
  char text[40] = "";
  const size_t length = omp_capture_affinity(text, sizeof text, format);
  printf("%d '%s' %zu\n", omp_get_thread_num(), text, length);
  fflush(stdout);
}
int main(void) {
  char format[20];
  capture("%L %n of %N, below %a, %t of %T");
  omp_get_affinity_format(format, sizeof format);
  printf("%s\n", format);
  omp_set_affinity_format("thread %0.4n%5{num_threads}|%.5n|");
#pragma omp parallel for ordered schedule(static, 1)
  for (int i = 0; i < omp_get_num_threads(); ++i) {
#pragma omp ordered
    {
      capture(NULL);
      capture("%{team_num} %{num_teams} %{nesting_level} %{thread_num} %{num_threads} %{ancestor_tnum}");
      capture("100%% longer than the buffer, which takes so much of it: %0.20n");
      char host[300] = "", process[30] = "", padded[400] = "";
      omp_capture_affinity(host, sizeof host, "%H");
      printf("host %d\n",
             omp_capture_affinity(padded, sizeof padded, "%.290{host}") == 290 && strstr(padded, host) != NULL);
      printf("number %d\n", omp_capture_affinity(process, sizeof process, "%0.20{native_thread_id}") == 20 &&
                                strncmp(process, "0x000", 5) == 0);
      fflush(stdout);
      if (i == 1) omp_display_affinity("");
      if (i == 0) omp_display_affinity("%N%%");
    }
  }
  printf("%zu\n", omp_get_affinity_format(format, sizeof format));
  printf("%s\n", format);
#pragma omp parallel num_threads(1)
  capture(NULL);
#pragma omp parallel
  ;
  return 0;
}
