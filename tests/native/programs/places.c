/* Places, affinity, and what the library says about itself. */
#include "expect.h"

#include <omp.h>
#include <string.h>

int main(void) {
  char text[100];
  EXPECT(omp_get_proc_bind() >= omp_proc_bind_false);
  const int places = omp_get_num_places();
  EXPECT(places >= 0 && omp_get_place_num() >= -1 && omp_get_place_num() < (places > 0 ? places : 1));
  for (int place = 0; place < places; ++place) {
    int processors[1024];
    EXPECT(omp_get_place_num_procs(place) > 0 && omp_get_place_num_procs(place) <= 1024);
    omp_get_place_proc_ids(place, processors);
  }
  int numbers[1024];
  EXPECT(omp_get_partition_num_places() >= 0 && omp_get_partition_num_places() <= 1024);
  omp_get_partition_place_nums(numbers);
  EXPECT(omp_get_affinity_format(NULL, 0) > 0);
  omp_set_affinity_format("thread %i");
  EXPECT(omp_capture_affinity(text, sizeof text, NULL) > 0 && strlen(text) > 0);
#pragma omp parallel proc_bind(close)
#pragma omp master
  omp_display_affinity(NULL);
  omp_display_env(0);
  omp_set_nested(0);
  EXPECT(!omp_get_nested());
  EXPECT(omp_get_cancellation() == 0 && omp_get_num_procs() >= 1);
  EXPECT(omp_get_supported_active_levels() >= 1 && omp_get_thread_limit() >= omp_get_max_threads());
  omp_pause_resource(omp_pause_soft, omp_get_initial_device());
  omp_pause_resource_all(omp_pause_hard);
#pragma omp error at(execution) severity(warning) message("is meant")
  EXPECT(omp_get_wtick() > 0 && omp_get_wtime() >= 0);
  return expect_status();
}
