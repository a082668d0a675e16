! Eulerian hydrodynamics on tiles, as CloverLeaf: modules, derived types with allocatable and pointer components, min
! reductions, halos between tiles, an input deck read from an internal file, a summary by array reductions.
module types
  use, intrinsic :: iso_fortran_env, only: real64, int32
  implicit none
  integer, parameter :: wp = real64, halo = 2
  type :: field
    real(wp), allocatable :: density(:, :), energy(:, :), pressure(:, :), sound(:, :)
    real(wp), allocatable :: xvel(:, :), yvel(:, :), flux_x(:, :), flux_y(:, :)
  end type
  type :: tile
    integer :: first, last
    type(field) :: cells
    type(tile), pointer :: below => null(), above => null()
  end type
  type :: deck
    integer :: cells = 32, tiles = 4, steps = 10
    real(wp) :: courant = 0.3_wp, gamma = 1.4_wp
    character(len=16) :: name = 'unnamed'
  end type
end module

module hydro
  use types
  use omp_lib
  implicit none
  type(tile), allocatable, target :: tiles(:)
  type(deck) :: input
  real(wp) :: step, time
contains
  subroutine read_deck(lines)
    character(len=*), intent(in) :: lines(:)
    integer :: i, at, status
    character(len=20) :: word
    do i = 1, size(lines)
      at = index(lines(i), '=')
      if (at == 0) cycle
      word = adjustl(lines(i)(:at - 1))
      status = 0
      select case (trim(word))
      case ('cells'); read (lines(i)(at + 1:), *, iostat=status) input%cells
      case ('tiles'); read (lines(i)(at + 1:), *, iostat=status) input%tiles
      case ('steps'); read (lines(i)(at + 1:), *, iostat=status) input%steps
      case ('courant'); read (lines(i)(at + 1:), *, iostat=status) input%courant
      case ('name'); input%name = adjustl(lines(i)(at + 1:))
      case default; error stop 'unknown word in the deck'
      end select
      if (status /= 0) error stop 'bad value in the deck'
    end do
  end subroutine

  subroutine allocate_cells(f, width, first, last)
    type(field), intent(out) :: f
    integer, intent(in) :: width, first, last
    integer :: a, b
    a = first - halo
    b = last + halo
    allocate (f%density(1 - halo:width + halo, a:b), f%energy(1 - halo:width + halo, a:b))
    allocate (f%pressure, f%sound, f%xvel, f%yvel, f%flux_x, f%flux_y, mold=f%density)
    f%xvel = 0
    f%yvel = 0
    f%flux_x = 0
    f%flux_y = 0
  end subroutine

  subroutine start_tiles()
    integer :: t, i, j
    if (allocated(tiles)) deallocate (tiles)
    allocate (tiles(input%tiles))
!$omp parallel do schedule(static, 1) private(i, j)
    do t = 1, input%tiles
      tiles(t)%first = 1 + input%cells * (t - 1) / input%tiles
      tiles(t)%last = input%cells * t / input%tiles
      tiles(t)%below => tiles(modulo(t - 2, input%tiles) + 1)
      tiles(t)%above => tiles(modulo(t, input%tiles) + 1)
      call allocate_cells(tiles(t)%cells, input%cells, tiles(t)%first, tiles(t)%last)
      associate (c => tiles(t)%cells)
        do j = lbound(c%density, 2), ubound(c%density, 2)
          do i = 1 - halo, input%cells + halo
            c%density(i, j) = 1
            c%energy(i, j) = 1
            if (i > input%cells / 3 .and. i <= input%cells / 2 .and. j > input%cells / 3 .and. j <= input%cells / 2) then
              c%density(i, j) = 2
              c%energy(i, j) = 2.5_wp
            end if
          end do
        end do
      end associate
    end do
    step = 0
    time = 0
  end subroutine

  subroutine copy_rows(a, b, from, to, width)
    real(wp), intent(inout) :: a(:, :)
    real(wp), intent(in) :: b(:, :)
    integer, intent(in) :: from, to, width
    integer :: i
    do i = 1 - halo + halo, width + 2 * halo
      a(i, to) = b(i, from)
    end do
  end subroutine

  subroutine exchange()
    integer :: t, k, n
    n = input%cells
!$omp do schedule(static, 1)
    do t = 1, input%tiles
      associate (c => tiles(t)%cells)
        do k = 1, halo
          c%density(1 - k, :) = c%density(n + 1 - k, :)
          c%energy(1 - k, :) = c%energy(n + 1 - k, :)
          c%density(n + k, :) = c%density(k, :)
          c%energy(n + k, :) = c%energy(k, :)
          c%xvel(1 - k, :) = c%xvel(n + 1 - k, :)
          c%xvel(n + k, :) = c%xvel(k, :)
          c%yvel(1 - k, :) = c%yvel(n + 1 - k, :)
          c%yvel(n + k, :) = c%yvel(k, :)
        end do
      end associate
    end do
!$omp end do
!$omp do schedule(static, 1)
    do t = 1, input%tiles
      associate (c => tiles(t)%cells, b => tiles(t)%below%cells, a => tiles(t)%above%cells)
        do k = 1, halo
          c%density(:, tiles(t)%first - k) = b%density(:, tiles(t)%below%last + 1 - k)
          c%energy(:, tiles(t)%first - k) = b%energy(:, tiles(t)%below%last + 1 - k)
          c%xvel(:, tiles(t)%first - k) = b%xvel(:, tiles(t)%below%last + 1 - k)
          c%yvel(:, tiles(t)%first - k) = b%yvel(:, tiles(t)%below%last + 1 - k)
          c%density(:, tiles(t)%last + k) = a%density(:, tiles(t)%above%first - 1 + k)
          c%energy(:, tiles(t)%last + k) = a%energy(:, tiles(t)%above%first - 1 + k)
          c%xvel(:, tiles(t)%last + k) = a%xvel(:, tiles(t)%above%first - 1 + k)
          c%yvel(:, tiles(t)%last + k) = a%yvel(:, tiles(t)%above%first - 1 + k)
        end do
      end associate
    end do
!$omp end do
  end subroutine

  subroutine state()
    integer :: t
!$omp do schedule(static, 1)
    do t = 1, input%tiles
      associate (c => tiles(t)%cells)
        c%pressure = (input%gamma - 1) * c%density * c%energy
        c%sound = sqrt(input%gamma * c%pressure / c%density)
      end associate
    end do
!$omp end do
  end subroutine

  subroutine find_step()
    integer :: t, i, j
    real(wp), save :: least
!$omp single
    least = huge(1._wp)
!$omp end single
!$omp do schedule(static, 1) reduction(min: least)
    do t = 1, input%tiles
      do j = tiles(t)%first, tiles(t)%last
        do i = 1, input%cells
          least = min(least, input%courant / input%cells / (tiles(t)%cells%sound(i, j) &
                      + max(abs(tiles(t)%cells%xvel(i, j)), abs(tiles(t)%cells%yvel(i, j)))))
        end do
      end do
    end do
!$omp end do
!$omp single
    step = least
    time = time + step
!$omp end single
  end subroutine

  pure function upwind(velocity, left, right) result(value)
    real(wp), intent(in) :: velocity, left, right
    real(wp) :: value
    value = merge(left, right, velocity > 0)
  end function

  subroutine accelerate()
    integer :: t, i, j
    real(wp) :: scale
    scale = step * input%cells / 2
!$omp do schedule(static, 1) private(i, j)
    do t = 1, input%tiles
      associate (c => tiles(t)%cells)
        do j = tiles(t)%first - 1, tiles(t)%last + 1
          do i = 0, input%cells + 1
            c%xvel(i, j) = c%xvel(i, j) - scale * (c%pressure(i + 1, j) - c%pressure(i - 1, j)) / c%density(i, j)
            c%yvel(i, j) = c%yvel(i, j) - scale * (c%pressure(i, j + 1) - c%pressure(i, j - 1)) / c%density(i, j)
          end do
        end do
      end associate
    end do
!$omp end do
  end subroutine

  subroutine advect()
    integer :: t, i, j
    real(wp) :: v
!$omp do schedule(static, 1) private(i, j, v)
    do t = 1, input%tiles
      associate (c => tiles(t)%cells)
        do j = tiles(t)%first, tiles(t)%last + 1
          do i = 1, input%cells + 1
            v = (c%xvel(i, j) + c%xvel(i - 1, j)) / 2
            c%flux_x(i, j) = step * input%cells * v * upwind(v, c%density(i - 1, j), c%density(i, j))
            v = (c%yvel(i, j) + c%yvel(i, j - 1)) / 2
            c%flux_y(i, j) = step * input%cells * v * upwind(v, c%density(i, j - 1), c%density(i, j))
          end do
        end do
      end associate
    end do
!$omp end do
!$omp do schedule(static, 1) private(i, j)
    do t = 1, input%tiles
      associate (c => tiles(t)%cells)
        do j = tiles(t)%first, tiles(t)%last
          do i = 1, input%cells
            c%density(i, j) = c%density(i, j) + c%flux_x(i, j) - c%flux_x(i + 1, j) + c%flux_y(i, j) - c%flux_y(i, j + 1)
          end do
        end do
      end associate
    end do
!$omp end do
  end subroutine

  subroutine run()
    integer :: s
!$omp parallel private(s)
    do s = 1, input%steps
      call exchange()
      call state()
      call find_step()
      call accelerate()
      call advect()
    end do
!$omp end parallel
  end subroutine

  subroutine summary(mass, profile)
    real(wp), intent(out) :: mass
    real(wp), intent(out) :: profile(:)
    integer :: t, i, j
    mass = 0
    profile = 0
!$omp parallel do reduction(+: mass, profile) private(i, j)
    do t = 1, input%tiles
      do j = tiles(t)%first, tiles(t)%last
        do i = 1, input%cells
          mass = mass + tiles(t)%cells%density(i, j)
          profile(j) = profile(j) + tiles(t)%cells%density(i, j)
        end do
      end do
    end do
!$omp end parallel do
  end subroutine
end module

program clover
  use hydro
  implicit none
  character(len=40) :: lines(4) = [character(len=40) :: 'cells = 40', ' tiles=4', 'name = square', 'steps = 8']
  character(len=12) :: argument
  real(wp) :: mass, first, again, begun
  real(wp), allocatable :: before(:), after(:), alone(:), kept(:, :)
  integer :: t, wrong
  if (command_argument_count() > 0) then
    call get_command_argument(1, argument)
    write (lines(1), '(a, a)') 'cells = ', trim(argument)
  end if
  call read_deck(lines)
  allocate (before(input%cells), after(input%cells), alone(input%cells), kept(input%cells, input%cells))
  begun = omp_get_wtime()
  call start_tiles()
  call summary(first, before)
  call run()
  call summary(mass, after)
  begun = omp_get_wtime() - begun
  do t = 1, input%tiles
    kept(:, tiles(t)%first:tiles(t)%last) = tiles(t)%cells%density(1:input%cells, tiles(t)%first:tiles(t)%last)
  end do
  call omp_set_num_threads(1)
  call start_tiles()
  call run()
  call summary(again, alone)
  wrong = 0
  do t = 1, input%tiles
    wrong = wrong + count(kept(:, tiles(t)%first:tiles(t)%last) /= &
                          tiles(t)%cells%density(1:input%cells, tiles(t)%first:tiles(t)%last))
  end do
  if (abs(mass - first) > 1e-9_wp * first) wrong = wrong + 1
  if (any(abs(after - alone) > 1e-9_wp)) wrong = wrong + 1
  if (maxval(abs(after - before)) < 1e-3_wp) wrong = wrong + 1
  if (input%name /= 'square') wrong = wrong + 1
  write (*, '(3a, f10.6, a, 2f14.6, a, f7.3, a)', advance='no') 'clover ', trim(input%name), ': time ', time, ', mass ', first, &
    mass, ', ', begun, ' s: '
  if (wrong > 0) then
    print '(a, i0, a)', 'WRONG (', wrong, ')'
    error stop 1
  end if
  print '(a)', 'verified'
end program
