! Uses every call of the placement module, and says what came back.
program placement_probe
  use, intrinsic :: iso_c_binding
  use omp_lib
  use sdsm_placement
  implicit none
  integer, parameter :: columns = 8, column_words = 512
  type(c_ptr) :: block
  real(c_double), pointer :: grid(:, :)
  integer(c_long) :: begin, end
  integer :: thread

  block = sdsm_galloc(8_c_size_t * columns * column_words, sdsm_block)
  if (.not. c_associated(block)) stop 1
  call c_f_pointer(block, grid, [column_words, columns])
  grid = 1
  print '(a,i0)', 'has a home: ', merge(1, 0, sdsm_home(block) >= 0)
  !$omp parallel num_threads(3) private(begin, end)
  call sdsm_affinity(block, 8_c_size_t * column_words, 2_c_long, int(columns, c_long), begin, end)
  !$omp do ordered schedule(static, 1)
  do thread = 1, 3
    !$omp ordered
    print '(i0,a,i0)', begin, '..', end
    !$omp end ordered
  end do
  !$omp end parallel
  ! Gangs of threads 0 and 2, and of 1: each shares out 1..5.
  !$omp parallel num_threads(3) private(begin, end)
  call sdsm_divide(sdsm_by_round_robin, 2, 1)
  call sdsm_for_begin(1_c_long, 5_c_long, begin, end)
  call sdsm_for_end_nowait()
  call sdsm_gang_barrier()
  !$omp critical
  grid(omp_get_thread_num() + 1, 1) = 1000 * (10 * sdsm_get_gang_num() + sdsm_get_thread_num()) + 10 * begin + end
  if (sdsm_get_num_gangs() /= 2 .or. sdsm_get_num_threads() /= 2 - sdsm_get_gang_num()) stop 2
  !$omp end critical
  call sdsm_unite()
  !$omp end parallel
  print '(3(i0,1x))', int(grid(1:3, 1))
  call sdsm_gfree(block)
end program
