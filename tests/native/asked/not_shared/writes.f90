program writes
  implicit none
  integer, parameter :: count = 20000
  character(len = 40) :: line
  real(8) :: begin, end
  integer :: i, number, sum
  sum = 0
  !$omp barrier
  call cpu_time(begin)
  do i = 1, count
    write (line, '(I8,F12.4)') i, i * 0.5d0
    read (line, '(I8)') number
    sum = sum + number
  end do
  call cpu_time(end)
  if (sum /= count / 2 * (count + 1)) error stop
  print *, (end - begin) / count
end program
