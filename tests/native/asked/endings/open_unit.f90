! Built as open_unit with -O0
program unit
  use omp_lib
!$omp parallel
  if (omp_get_thread_num() == omp_get_num_threads() - 1) then
    open (50, file='left.txt')
    write (50, '(a)') 'left'
  end if
!$omp end parallel
end program
