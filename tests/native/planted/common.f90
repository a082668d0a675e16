! Planted: rows are shared out, where Fortran keeps columns together; the arrays are in a common block.
subroutine sweep(step)
  implicit none
  integer, intent(in) :: step
  integer :: i, j
  real(8) :: a(512, 64), b(512, 64)
  common /fields/ a, b
  !$omp parallel do private(j)
  do i = 1, 512
    do j = 1, 64
      a(i, j) = a(i, j) * 0.99d0 + b(i, j) * step ! touched: common
    end do
  end do
end subroutine sweep
program main
  implicit none
  real(8) :: a(512, 64), b(512, 64)
  common /fields/ a, b
  integer :: step
  a = 1d0
  b = 2d0
  do step = 1, 10
    call sweep(step)
  end do
  print *, a(3, 3)
end program main
