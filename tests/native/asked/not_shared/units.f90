! Built as units with -O1
program units
  use omp_lib
  character(20) :: how
  call get_command_argument(1, how)
  if (how /= 'each') open(10, file='units.txt')
  !$omp parallel num_threads(2)
  !$omp critical
  if (how == 'each') open(10, file='units.txt', position='append')
  write(10, *) omp_get_thread_num()
  if (how == 'each') close(10)
  !$omp end critical
  !$omp end parallel
end program
