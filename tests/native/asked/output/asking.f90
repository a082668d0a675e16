program asking
  use omp_lib
  implicit none
  integer :: i
  print '(a, i0)', 'sum ', sum_of(100)
  !$omp parallel private(i)
  !$omp critical
  print '(a, i0)', 'thread ', number()
  !$omp end critical
  !$omp end parallel
  print '(a, i0)', 'sum ', sum_of(10)
contains
  integer function sum_of(n)
    integer, intent(in) :: n
    integer :: i, own
    sum_of = 0
    !$omp parallel private(own)
    own = 0
    !$omp do
    do i = 1, n
      own = own + i
    end do
    !$omp critical (adding)
    sum_of = sum_of + own
    !$omp end critical (adding)
    !$omp end parallel
  end function
  integer function number()
    number = omp_get_thread_num()
    !$omp critical (asking_number)
    number = number + 1
    !$omp end critical (asking_number)
  end function
end program
