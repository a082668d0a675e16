! Planted: an array of a module, allocated and filled by the initial thread.
module field
  implicit none
  real(8), allocatable :: grid(:, :)
contains
  subroutine setup(n)
    integer, intent(in) :: n
    allocate (grid(n, n)) ! planted: module
    grid = 1.0d0
  end subroutine setup
end module field

program main
  use field
  implicit none
  integer :: i, j, step
  call setup(400)
  do step = 1, 10
    !$omp parallel do private(i) schedule(static)
    do j = 1, 400
      do i = 1, 400
        grid(i, j) = grid(i, j) * 1.01d0 + step ! touched: module
      end do
    end do
  end do
  print *, grid(7, 9)
end program main
