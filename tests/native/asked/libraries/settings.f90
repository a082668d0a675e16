! Built as settings with -O2 -fconvert=big-endian -frecord-marker=8
program settings
  use omp_lib
  implicit none
  character(20) :: argument(0:63)
  integer :: arguments(0:63), i, thread, stored(0:63)
  arguments = -1
!$omp parallel private(thread)
  thread = omp_get_thread_num()
  arguments(thread) = command_argument_count()
  call get_command_argument(1, argument(thread))
  open(60 + thread, file='file' // achar(48 + thread), form='unformatted')
  write(60 + thread) 1
  close(60 + thread)
  open(60 + thread, file='file' // achar(48 + thread), form='unformatted', access='stream', convert='native')
  read(60 + thread) stored(thread), stored(thread), stored(thread)
  close(60 + thread)
!$omp end parallel
  do i = 0, omp_get_max_threads() - 1
    print '(i2, 1x, a, i12)', arguments(i), trim(argument(i)), stored(i)
  end do
end program
