! Molecular dynamics in Fortran: derived types, threadprivate common and module data with copyin, critical, atomic, an
! external function passed on, recursion, automatic arrays on the stack, internal writes, elemental functions.
module forces
  implicit none
  integer, parameter :: dp = kind(1d0)
  type :: particle
    real(dp) :: position(3) = 0, velocity(3) = 0, force(3) = 0
    integer :: id = 0
    character(len=12) :: label = ''
  end type
  real(dp), save :: box = 1
  real(dp), allocatable, save :: own_force(:, :)
  integer, save :: calls = 0
!$omp threadprivate(own_force, calls)
contains
  elemental function wrapped(d) result(w)
    real(dp), intent(in) :: d
    real(dp) :: w
    w = d - box * anint(d / box)
  end function

  subroutine pair(p, q, f, e)
    type(particle), intent(in) :: p, q
    real(dp), intent(out) :: f(3), e
    real(dp) :: d(3), r2, i6
    d = wrapped(p%position - q%position)
    r2 = dot_product(d, d)
    calls = calls + 1
    f = 0
    e = 0
    if (r2 > 6.25_dp) return
    i6 = 1 / r2**3
    f = 48 * i6 * (i6 - 0.5_dp) / r2 * d
    e = 4 * i6 * (i6 - 1)
  end subroutine
end module

subroutine tally(kind, amount)
  implicit none
  integer, intent(in) :: kind, amount
  integer :: hits(16)
  common /counters/ hits
!$omp threadprivate(/counters/)
  hits(kind) = hits(kind) + amount
end subroutine

recursive function tree_sum(x, n) result(s)
  implicit none
  integer, intent(in) :: n
  double precision, intent(in) :: x(n)
  double precision :: s, half(n / 2), tree_sum_of_half
  if (n == 0) then
    s = 0
  else if (n == 1) then
    s = x(1)
  else
    half = x(:n / 2)
    tree_sum_of_half = tree_sum(half, n / 2)
    s = tree_sum_of_half + tree_sum(x(n / 2 + 1:), n - n / 2)
  end if
end function

program md
  use omp_lib
  use forces
  implicit none
  integer :: per_side, steps, count_of, i, j, s, wrong, total_calls, total_hits
  integer :: hits(16)
  common /counters/ hits
!$omp threadprivate(/counters/)
  type(particle), allocatable :: particles(:), alone(:)
  real(dp) :: potential, kinetic, first, last, begun, worst
  character(len=16) :: argument
  external :: tally
  interface
    recursive function tree_sum(x, n) result(s)
      integer, intent(in) :: n
      double precision, intent(in) :: x(n)
      double precision :: s
    end function
  end interface
  per_side = 5
  steps = 8
  if (command_argument_count() > 0) then
    call get_command_argument(1, argument)
    read (argument, *) per_side
  end if
  count_of = per_side**3
  box = 1.2_dp * per_side
  allocate (particles(count_of))
  begun = omp_get_wtime()
  hits = 0
  hits(3) = 7
!$omp parallel copyin(/counters/)
  allocate (own_force(3, count_of))
  if (hits(3) /= 7) error stop 'copyin'
  hits(3) = 0
!$omp end parallel
!$omp parallel do private(j)
  do i = 1, count_of
    particles(i)%id = i
    write (particles(i)%label, '(a, i0)') 'atom ', i
    do j = 1, 3
      particles(i)%position(j) = 1.2_dp * mod((i - 1) / per_side**(j - 1), per_side) + 0.05_dp * sin(3._dp * i + j)
      particles(i)%velocity(j) = 0.2_dp * cos(1.7_dp * i + j)
    end do
  end do
!$omp end parallel do
  first = 0
  do s = 1, steps
    call all_pairs(particles, potential)
    kinetic = 0
!$omp parallel do reduction(+: kinetic) schedule(static)
    do i = 1, count_of
      kinetic = kinetic + sum((particles(i)%velocity + 0.002_dp * particles(i)%force)**2) / 2
      particles(i)%velocity = particles(i)%velocity + 0.004_dp * particles(i)%force
      particles(i)%position = particles(i)%position + 0.004_dp * particles(i)%velocity
    end do
    if (s == 1) first = potential + kinetic
    last = potential + kinetic
  end do
  begun = omp_get_wtime() - begun
  wrong = 0
  total_calls = 0
  total_hits = 0
!$omp parallel
!$omp atomic
  total_calls = total_calls + calls
!$omp critical (hit)
  total_hits = total_hits + hits(1) + hits(2)
!$omp end critical (hit)
  deallocate (own_force)
!$omp end parallel
  if (total_calls /= steps * count_of * (count_of - 1) / 2) wrong = wrong + 1
  if (total_hits /= steps * count_of) wrong = wrong + 2
  if (abs(last - first) > 0.02_dp * abs(first)) wrong = wrong + 4
  alone = particles
  worst = 0
!$omp parallel do private(j) reduction(max: worst) schedule(dynamic, 4)
  do i = 1, count_of
    block
      real(dp) :: f(3), e, sum_of_forces(3), by_tree(3), parts(count_of, 3)
      sum_of_forces = 0
      parts = 0
      do j = 1, count_of
        if (j == i) cycle
        call pair(alone(i), alone(j), f, e)
        sum_of_forces = sum_of_forces + f
        parts(j, :) = f
      end do
      do j = 1, 3
        by_tree(j) = tree_sum(parts(:, j), count_of)
      end do
      worst = max(worst, maxval(abs(by_tree - sum_of_forces)))
    end block
  end do
  if (worst > 1e-9_dp) wrong = wrong + 8
  do i = 1, count_of
    write (argument, '(a, i0)') 'atom ', i
    if (particles(i)%label /= argument(:12)) wrong = wrong + 16
  end do
  if (maxval(abs(sum_velocity(particles))) > 0.2_dp * sqrt(3._dp * count_of)) wrong = wrong + 32
  if (wrong /= 0) then
    print '(a, i0)', 'md: WRONG ', wrong
    stop 1
  end if
  print '(a, i0, a, 2f12.5, a, f7.3, a)', 'md: ', count_of, ' particles, energy ', first, last, ', ', begun, ' s: verified'
contains
  subroutine all_pairs(p, e)
    type(particle), intent(inout) :: p(:)
    real(dp), intent(out) :: e
    real(dp) :: f(3), one
    integer :: a, b, k
    e = 0
!$omp parallel private(a, b, f, one, k) reduction(+: e)
    own_force = 0
!$omp do schedule(static, 2)
    do a = 1, size(p)
      call tally(1 + mod(a, 2), 1)
      do b = a + 1, size(p)
        call pair(p(a), p(b), f, one)
        own_force(:, a) = own_force(:, a) + f
        own_force(:, b) = own_force(:, b) - f
        e = e + one
      end do
    end do
!$omp end do
!$omp do
    do a = 1, size(p)
      p(a)%force = 0
    end do
!$omp end do
    do k = 0, omp_get_num_threads() - 1
!$omp critical (add)
      do a = 1, size(p)
        p(a)%force = p(a)%force + merge(own_force(:, a), 0._dp, k == 0)
      end do
!$omp end critical (add)
    end do
!$omp end parallel
  end subroutine

  function sum_velocity(p) result(v)
    type(particle), intent(in) :: p(:)
    real(dp) :: v(3)
    integer :: a
    v = 0
!$omp parallel do reduction(+: v)
    do a = 1, size(p)
      v = v + p(a)%velocity
    end do
  end function
end program
