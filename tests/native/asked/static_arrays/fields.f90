module fields
  implicit none
  real(8) :: u(200, 200)
  real(8) :: v(200, 200) = 1
end module
program main
  use fields
  implicit none
  real(8) :: w(30000)
  integer :: i, j, t
  common /shared/ w
  w = 0
  u = 0
  do t = 1, 3
    !$omp parallel do schedule(static)
    do j = 1, 200
      do i = 1, 200
        u(i, j) = u(i, j) + v(i, 201 - j)
      end do
    end do
    !$omp parallel do schedule(static)
    do i = 1, 30000
      w(i) = w(i) + i
    end do
  end do
  if (any(u /= 3)) stop 1
  do i = 1, 30000
    if (w(i) /= 3 * i) stop 1
  end do
end program
