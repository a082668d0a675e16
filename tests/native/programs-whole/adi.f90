! Implicit solvers in the style of NAS BT, SP and LU: a 3-D field of five components (three here), swept along each axis
! by block-tridiagonal and scalar pentadiagonal systems, with lines in threadprivate common blocks; then SSOR in a
! pipeline over planes, whose neighbours wait for each other by flags in a common block. One thread's run of the same
! code is the reference.
module sizes
  implicit none
  integer, parameter :: dp = kind(1d0)
  integer, parameter :: most = 20, parts = 3, most_threads = 64, apart = 16
end module

module fields
  use sizes
  implicit none
  ! As in the originals: fields in common, all at one place.
  real(dp) :: u(parts, 0:most + 1, 0:most + 1, 0:most + 1), rhs(parts, 0:most + 1, 0:most + 1, 0:most + 1)
  real(dp) :: forcing(parts, 0:most + 1, 0:most + 1, 0:most + 1)
  common /fields_of_all/ u, rhs, forcing
  ! Each thread's line of blocks and its bands.
  real(dp) :: lower(parts, parts, 0:most + 1), middle(parts, parts, 0:most + 1), upper(parts, parts, 0:most + 1)
  real(dp) :: line(parts, 0:most + 1)
  common /work_line/ lower, middle, upper, line
  real(dp) :: bands(-2:2, 0:most + 1), scalar_line(0:most + 1)
  common /work_scalar/ bands, scalar_line
  integer :: lines_solved
  real(dp) :: shift
  common /own_state/ shift, lines_solved
  !$omp threadprivate(/work_line/, /work_scalar/, /own_state/)
  ! Flags of the pipeline, each on words of its own.
  integer :: reached(apart, 0:most_threads)
  common /pipeline/ reached
  integer :: n = 8
contains
  subroutine start
    integer :: i, j, k, m
    !$omp parallel do collapse(2) private(m, i) schedule(static)
    do k = 0, n + 1
      do j = 0, n + 1
        do i = 0, n + 1
          do m = 1, parts
            u(m, i, j, k) = 1 + 0.1_dp * m * sin(0.3_dp * i) + 0.05_dp * cos(0.2_dp * j) * k / (n + 1)
            forcing(m, i, j, k) = 0.01_dp * (mod(i * 7 + j * 5 + k * 3 + m, 11) - 5)
            rhs(m, i, j, k) = 0
          end do
        end do
      end do
    end do
    !$omp end parallel do
  end subroutine

  subroutine compute_rhs
    integer :: i, j, k, m
    ! Orphaned: the team is the caller's. No barriers between the directions, as each thread has its planes.
    !$omp do schedule(static)
    do k = 1, n
      do j = 1, n
        do i = 1, n
          do m = 1, parts
            rhs(m, i, j, k) = forcing(m, i, j, k) - 0.02_dp * u(m, i, j, k) * u(1 + mod(m, parts), i, j, k)
          end do
        end do
      end do
    end do
    !$omp end do nowait
    !$omp do schedule(static)
    do k = 1, n
      do j = 1, n
        do i = 1, n
          rhs(:, i, j, k) = rhs(:, i, j, k) + 0.1_dp * (u(:, i - 1, j, k) - 2 * u(:, i, j, k) + u(:, i + 1, j, k))
        end do
      end do
      do j = 1, n
        do i = 1, n
          rhs(:, i, j, k) = rhs(:, i, j, k) + 0.1_dp * (u(:, i, j - 1, k) - 2 * u(:, i, j, k) + u(:, i, j + 1, k))
        end do
      end do
    end do
    !$omp end do nowait
    !$omp do schedule(static)
    do k = 1, n
      do concurrent (j = 1:n, i = 1:n)
        rhs(:, i, j, k) = rhs(:, i, j, k) + 0.1_dp * (u(:, i, j, k - 1) - 2 * u(:, i, j, k) + u(:, i, j, k + 1))
      end do
    end do
    !$omp end do
  end subroutine

  ! Block elimination along a line whose blocks are in the thread's common block.
  subroutine solve_blocks
    real(dp) :: inverse(parts, parts), factor(parts, parts)
    integer :: i
    do i = 2, n
      call invert(middle(:, :, i - 1), inverse)
      factor = matmul(lower(:, :, i), inverse)
      middle(:, :, i) = middle(:, :, i) - matmul(factor, upper(:, :, i - 1))
      line(:, i) = line(:, i) - matmul(factor, line(:, i - 1))
    end do
    call invert(middle(:, :, n), inverse)
    line(:, n) = matmul(inverse, line(:, n))
    do i = n - 1, 1, -1
      call invert(middle(:, :, i), inverse)
      line(:, i) = matmul(inverse, line(:, i) - matmul(upper(:, :, i), line(:, i + 1)))
    end do
    lines_solved = lines_solved + 1
  end subroutine

  pure subroutine invert(a, b)
    real(dp), intent(in) :: a(parts, parts)
    real(dp), intent(out) :: b(parts, parts)
    real(dp) :: w(parts, 2 * parts), pivot
    integer :: i, j
    w(:, 1:parts) = a
    w(:, parts + 1:) = 0
    do i = 1, parts
      w(i, parts + i) = 1
    end do
    do i = 1, parts
      pivot = w(i, i)
      w(i, :) = w(i, :) / pivot
      do j = 1, parts
        if (j /= i) w(j, :) = w(j, :) - w(j, i) * w(i, :)
      end do
    end do
    b = w(:, parts + 1:)
  end subroutine

  subroutine fill_blocks(values)
    real(dp), intent(in) :: values(parts, 0:n + 1)
    integer :: i, m, l
    do i = 1, n
      do m = 1, parts
        do l = 1, parts
          lower(m, l, i) = merge(-0.1_dp, 0.002_dp * values(l, i - 1), m == l)
          upper(m, l, i) = merge(-0.1_dp, -0.002_dp * values(l, i + 1), m == l)
          middle(m, l, i) = merge(1.2_dp + shift, 0.01_dp * values(l, i), m == l)
        end do
      end do
    end do
  end subroutine

  subroutine sweep_x
    integer :: j, k
    !$omp do collapse(2) schedule(static)
    do k = 1, n
      do j = 1, n
        call fill_blocks(u(:, 0:n + 1, j, k))
        line(:, 1:n) = rhs(:, 1:n, j, k)
        call solve_blocks
        rhs(:, 1:n, j, k) = line(:, 1:n)
      end do
    end do
    !$omp end do
  end subroutine

  subroutine sweep_y
    integer :: i, k
    !$omp do schedule(static, 1)
    do k = 1, n
      do i = 1, n
        call fill_blocks(u(:, i, 0:n + 1, k))
        line(:, 1:n) = rhs(:, i, 1:n, k)
        call solve_blocks
        rhs(:, i, 1:n, k) = line(:, 1:n)
      end do
    end do
    !$omp end do
  end subroutine

  ! Along z, where each thread's lines cross all planes: pentadiagonal, as SP has them.
  subroutine sweep_z
    integer :: i, j, k, m, below
    real(dp) :: factor
    !$omp do schedule(guided, 2)
    do j = 1, n
      do i = 1, n
        do m = 1, parts
          do k = 1, n
            bands(:, k) = [0.01_dp, -0.12_dp, 1.3_dp + shift + 0.01_dp * u(m, i, j, k), -0.12_dp, 0.01_dp]
            scalar_line(k) = rhs(m, i, j, k)
          end do
          do k = 1, n - 1
            do below = 1, min(2, n - k)
              factor = bands(-below, k + below) / bands(0, k)
              bands(-below + 1:2 - below, k + below) = bands(-below + 1:2 - below, k + below) - factor * bands(1:2, k)
              scalar_line(k + below) = scalar_line(k + below) - factor * scalar_line(k)
            end do
          end do
          do k = n, 1, -1
            do below = 1, min(2, n - k)
              scalar_line(k) = scalar_line(k) - bands(below, k) * scalar_line(k + below)
            end do
            scalar_line(k) = scalar_line(k) / bands(0, k)
            rhs(m, i, j, k) = scalar_line(k)
          end do
        end do
      end do
    end do
    !$omp end do
  end subroutine

  subroutine add
    !$omp workshare
    u(:, 1:n, 1:n, 1:n) = u(:, 1:n, 1:n, 1:n) + rhs(:, 1:n, 1:n, 1:n)
    !$omp end workshare
  end subroutine

  ! The pipeline of LU: planes one after another, rows j shared out, each thread waiting for the one before it.
  subroutine wait_for(who, plane)
    integer, intent(in) :: who, plane
    integer :: seen
    do
      !$omp atomic read
      seen = reached(1, who)
      if (seen >= plane) exit
    end do
    !$omp flush
  end subroutine

  subroutine tell(who, plane)
    integer, intent(in) :: who, plane
    !$omp flush
    !$omp atomic write
    reached(1, who) = plane
  end subroutine

  subroutine relax(step)
    !$ use omp_lib
    integer, intent(in) :: step
    integer :: me, team, first, last, i, j, k
    me = 0
    team = 1
    !$ me = omp_get_thread_num()
    !$ team = omp_get_num_threads()
    first = 1 + n * me / team
    last = n * (me + 1) / team
    do k = 1, n
      if (me > 0) call wait_for(me - 1, 2 * step * n + k)
      do j = first, last
        do i = 1, n
          u(:, i, j, k) = 0.7_dp * u(:, i, j, k) + 0.1_dp * (u(:, i - 1, j, k) + u(:, i, j - 1, k) + u(:, i, j, k - 1))
        end do
      end do
      call tell(me, 2 * step * n + k)
    end do
    !$omp barrier
    do k = n, 1, -1
      if (me < team - 1) call wait_for(me + 1, 2 * step * n + n + (n + 1 - k))
      do j = last, first, -1
        do i = n, 1, -1
          u(:, i, j, k) = 0.7_dp * u(:, i, j, k) + 0.1_dp * (u(:, i + 1, j, k) + u(:, i, j + 1, k) + u(:, i, j, k + 1))
        end do
      end do
      call tell(me, 2 * step * n + n + (n + 1 - k))
    end do
    !$omp barrier
  end subroutine
end module

program adi
  use fields
  !$ use omp_lib
  implicit none
  integer, parameter :: steps = 2
  real(dp) :: reference(parts, 0:most + 1, 0:most + 1, 0:most + 1), norms(parts), norms_of_one(parts), greatest
  integer :: solved, step, i, team, wrong, least_solved
  logical :: same

  ! One thread first, then the team: the work of an element does not depend on who does it, so all bits must agree.
  !$ team = omp_get_max_threads()
  !$ call omp_set_num_threads(1)
  call run(solved, norms_of_one, greatest)
  reference = u
  !$ call omp_set_num_threads(team)
  wrong = 0
  do i = 1, 2
    call run(solved, norms, greatest)
    same = all(u(:, 0:n + 1, 0:n + 1, 0:n + 1) == reference(:, 0:n + 1, 0:n + 1, 0:n + 1))
    if (.not. same) wrong = wrong + 1
    if (solved /= steps * 2 * n * n) wrong = wrong + 1
    if (any(abs(norms - norms_of_one) > 1d-12 * abs(norms_of_one))) wrong = wrong + 1
    if (greatest /= maxval(abs(reference(:, 1:n, 1:n, 1:n)))) wrong = wrong + 1
  end do
  ! What each thread had in its common block is still there in the next region.
  least_solved = huge(1)
  !$omp parallel reduction(min: least_solved)
  least_solved = min(least_solved, lines_solved)
  if (shift /= 0.05_dp) least_solved = -1
  !$omp end parallel
  if (least_solved < 0) wrong = wrong + 1
  print '(a, 3es22.14, a, i0)', 'norms ', norms, ' wrong ', wrong
  if (wrong == 0) print '(a)', 'verified'
  if (wrong /= 0) print '(a)', 'WRONG'
  if (wrong /= 0) stop 1
contains
  subroutine run(solved, norms, greatest)
    integer, intent(out) :: solved
    real(dp), intent(out) :: norms(parts), greatest
    integer :: own_step, i, j, k
    reached = 0
    solved = 0
    norms = 0
    greatest = 0
    shift = 0.05_dp
    lines_solved = 0
    call start
    !$omp parallel copyin(shift, lines_solved) private(own_step) shared(solved, norms, greatest)
    do own_step = 0, steps - 1
      call compute_rhs
      call sweep_x
      call sweep_y
      call sweep_z
      call add
      call relax(own_step)
    end do
    !$omp atomic
    solved = solved + lines_solved
    !$omp do reduction(+: norms) reduction(max: greatest) collapse(3)
    do k = 1, n
      do j = 1, n
        do i = 1, n
          norms = norms + u(:, i, j, k)**2
          greatest = max(greatest, maxval(abs(u(:, i, j, k))))
        end do
      end do
    end do
    !$omp end do
    !$omp single
    norms = sqrt(norms) / n
    step = own_step
    !$omp end single
    !$omp end parallel
  end subroutine
end program
