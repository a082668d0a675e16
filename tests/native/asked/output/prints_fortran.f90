program prints
  use omp_lib
  implicit none
  integer :: i
  !$omp parallel
  !$omp do ordered schedule(static, 1)
  do i = 0, 19
    !$omp ordered
    print '(a, i0)', 'turn ', i
    !$omp end ordered
  end do
  !$omp end do
  !$omp end parallel
  print '(a)', 'end'
end program
