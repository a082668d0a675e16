! Shallow water on a staggered grid, as SWIM: arrays in COMMON, subroutines without interfaces, periodic edges, checks by
! conserved sums and by the same steps done by one thread.
module sizes
  implicit none
  integer, parameter :: most = 129
end module

subroutine start(m, n)
  use sizes
  implicit none
  integer, intent(in) :: m, n
  integer :: i, j
  double precision :: u, v, p, unew, vnew, pnew, cu, cv, z, h, psi, pi, di, dj
  common /flow/ u(most, most), v(most, most), p(most, most), unew(most, most), vnew(most, most), pnew(most, most)
  common /edges/ cu(most, most), cv(most, most), z(most, most), h(most, most), psi(most, most)
  pi = 4d0 * atan(1d0)
  di = 2 * pi / m
  dj = 2 * pi / n
!$omp parallel do
  do j = 1, n + 1
    do i = 1, m + 1
      psi(i, j) = 1d6 * sin((i - 0.5d0) * di) * sin((j - 0.5d0) * dj)
      p(i, j) = 500d0 * (cos(2d0 * (i - 1) * di) + cos(2d0 * (j - 1) * dj)) + 50000d0
    end do
  end do
!$omp end parallel do
!$omp parallel
!$omp do collapse(2)
  do j = 1, n
    do i = 1, m
      u(i + 1, j) = -(psi(i + 1, j + 1) - psi(i + 1, j)) / 1d5
      v(i, j + 1) = (psi(i + 1, j + 1) - psi(i, j + 1)) / 1d5
    end do
  end do
!$omp end do
!$omp workshare
  u(1, 1:n) = u(m + 1, 1:n)
  v(1:m, 1) = v(1:m, n + 1)
!$omp end workshare
!$omp workshare
  u(1:m + 1, n + 1) = u(1:m + 1, 1)
  v(m + 1, 1:n + 1) = v(1, 1:n + 1)
!$omp end workshare
!$omp end parallel
end subroutine

subroutine fluxes(m, n)
  use sizes
  implicit none
  integer, intent(in) :: m, n
  integer :: i, j
  double precision :: u, v, p, unew, vnew, pnew, cu, cv, z, h, psi
  common /flow/ u(most, most), v(most, most), p(most, most), unew(most, most), vnew(most, most), pnew(most, most)
  common /edges/ cu(most, most), cv(most, most), z(most, most), h(most, most), psi(most, most)
!$omp do schedule(static)
  do j = 1, n
    do i = 1, m
      cu(i + 1, j) = 0.5d0 * (p(i + 1, j) + p(i, j)) * u(i + 1, j)
      cv(i, j + 1) = 0.5d0 * (p(i, j + 1) + p(i, j)) * v(i, j + 1)
      z(i + 1, j + 1) = (4d-5 * (v(i + 1, j + 1) - v(i, j + 1) - u(i + 1, j + 1) + u(i + 1, j))) &
                        / (p(i, j) + p(i + 1, j) + p(i + 1, j + 1) + p(i, j + 1))
      h(i, j) = p(i, j) + 0.25d0 * (u(i + 1, j)**2 + u(i, j)**2 + v(i, j + 1)**2 + v(i, j)**2)
    end do
  end do
!$omp end do nowait
!$omp barrier
!$omp do
  do j = 1, n
    cu(1, j) = cu(m + 1, j)
    cv(m + 1, j + 1) = cv(1, j + 1)
    z(1, j + 1) = z(m + 1, j + 1)
    h(m + 1, j) = h(1, j)
  end do
!$omp end do
!$omp sections private(i)
!$omp section
  do i = 1, m
    cu(i + 1, n + 1) = cu(i + 1, 1)
    cv(i, 1) = cv(i, n + 1)
  end do
!$omp section
  do i = 1, m
    z(i + 1, 1) = z(i + 1, n + 1)
    h(i, n + 1) = h(i, 1)
  end do
!$omp end sections
!$omp single
  cu(1, n + 1) = cu(m + 1, 1)
  cv(m + 1, 1) = cv(1, n + 1)
  z(1, 1) = z(m + 1, n + 1)
  h(m + 1, n + 1) = h(1, 1)
!$omp end single
end subroutine

subroutine advance(m, n, dt)
  use sizes
  implicit none
  integer, intent(in) :: m, n
  double precision, intent(in) :: dt
  integer :: i, j
  double precision :: u, v, p, unew, vnew, pnew, cu, cv, z, h, psi
  common /flow/ u(most, most), v(most, most), p(most, most), unew(most, most), vnew(most, most), pnew(most, most)
  common /edges/ cu(most, most), cv(most, most), z(most, most), h(most, most), psi(most, most)
!$omp do
  do j = 1, n
    do i = 1, m
      unew(i + 1, j) = u(i + 1, j) + dt * ((z(i + 1, j + 1) + z(i + 1, j)) * (cv(i + 1, j + 1) + cv(i, j + 1) &
                       + cv(i, j) + cv(i + 1, j)) / 8 - (h(i + 1, j) - h(i, j)) / 1d5)
      vnew(i, j + 1) = v(i, j + 1) - dt * ((z(i + 1, j + 1) + z(i, j + 1)) * (cu(i + 1, j + 1) + cu(i, j + 1) &
                       + cu(i, j) + cu(i + 1, j)) / 8 + (h(i, j + 1) - h(i, j)) / 1d5)
      pnew(i, j) = p(i, j) - dt * (cu(i + 1, j) - cu(i, j) + cv(i, j + 1) - cv(i, j)) / 1d5
    end do
  end do
!$omp end do
!$omp do schedule(static, 8)
  do j = 1, n
    do i = 1, m
      u(i + 1, j) = unew(i + 1, j)
      v(i, j + 1) = vnew(i, j + 1)
      p(i, j) = pnew(i, j)
    end do
    u(1, j) = u(m + 1, j)
    v(m + 1, j + 1) = v(1, j + 1)
    p(m + 1, j) = p(1, j)
  end do
!$omp end do
!$omp master
  u(1:m + 1, n + 1) = u(1:m + 1, 1)
  v(1:m + 1, 1) = v(1:m + 1, n + 1)
  p(1:m + 1, n + 1) = p(1:m + 1, 1)
!$omp end master
!$omp barrier
end subroutine

program swim
  use omp_lib
  use sizes
  implicit none
  integer :: m, n, steps, s, wrong, length
  character(len=32) :: argument
  double precision :: mass, first, total, begun, largest
  double precision, allocatable :: kept(:, :, :)
  double precision :: u, v, p, unew, vnew, pnew
  common /flow/ u(most, most), v(most, most), p(most, most), unew(most, most), vnew(most, most), pnew(most, most)
  m = 64
  steps = 12
  if (command_argument_count() >= 1) then
    call get_command_argument(1, argument, length)
    read (argument(:length), *) m
  end if
  if (command_argument_count() >= 2) then
    call get_command_argument(2, argument)
    read (argument, *) steps
  end if
  n = m
  allocate (kept(m, n, 3))
  begun = omp_get_wtime()
  call start(m, n)
  first = mass(m, n)
!$omp parallel default(shared) private(s)
  do s = 1, steps
    call fluxes(m, n)
    call advance(m, n, 20d0)
  end do
!$omp end parallel
  total = mass(m, n)
  begun = omp_get_wtime() - begun
  kept(:, :, 1) = u(1:m, 1:n)
  kept(:, :, 2) = v(1:m, 1:n)
  kept(:, :, 3) = p(1:m, 1:n)
  call omp_set_num_threads(1)
  call start(m, n)
  do s = 1, steps
    call fluxes(m, n)
    call advance(m, n, 20d0)
  end do
  wrong = count(kept(:, :, 1) /= u(1:m, 1:n)) + count(kept(:, :, 2) /= v(1:m, 1:n)) + count(kept(:, :, 3) /= p(1:m, 1:n))
  largest = maxval(abs(kept(:, :, 1)))
  if (abs(total - first) > 1d-9 * abs(first) .or. .not. largest < 1d3 .or. .not. largest > 1) wrong = wrong + 1
  write (*, '(a, i0, a, es14.6, a, f8.3, a, f7.3, a)', advance='no') 'swim: ', steps, ' steps, mass ', total, ', largest ', &
    largest, ', ', begun, ' s: '
  if (wrong == 0) then
    print '(a)', 'verified'
  else
    print '(a)', 'WRONG'
    stop 1
  end if
end program

double precision function mass(m, n)
  use sizes
  implicit none
  integer, intent(in) :: m, n
  integer :: i, j
  double precision :: u, v, p, unew, vnew, pnew
  common /flow/ u(most, most), v(most, most), p(most, most), unew(most, most), vnew(most, most), pnew(most, most)
  mass = 0
!$omp parallel do reduction(+:mass)
  do j = 1, n
    do i = 1, m
      mass = mass + p(i, j)
    end do
  end do
!$omp end parallel do
end function
