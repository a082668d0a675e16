! An ocean model's skeleton in modern Fortran: derived types with allocatable and pointer components and type-bound
! procedures, allocatable threadprivate work space, a namelist read in the serial part, array sections as arguments,
! `do concurrent`, `workshare` with `where`, `ordered`, tasks over a linked list of tracers, a declared reduction over a
! type, `associate` and `block`. A conjugate-gradient solver for the surface pressure, a shallow step with upwind
! advection, diagnostics and columns of different depth. One thread is the reference.
module ocean_types
  use, intrinsic :: iso_fortran_env, only: dp => real64, int64
  implicit none

  type :: configuration
    integer :: columns = 24, rows = 20, levels = 6, steps = 3, tracers = 4
    real(dp) :: dt = 0.02_dp, tolerance = 1e-9_dp
  end type

  type :: tracer
    character(len=:), allocatable :: name
    real(dp), allocatable :: amount(:, :)
    real(dp) :: decay = 0
    type(tracer), pointer :: next => null()
  end type

  type :: tracer_list
    type(tracer), pointer :: first => null()
    integer :: length = 0
  contains
    procedure :: add => add_tracer
    procedure :: clear => clear_tracers
  end type

  type :: column
    integer :: depth = 0
    real(dp), allocatable :: heat(:)
  end type

  type :: basin
    integer :: nx = 0, ny = 0
    real(dp), allocatable, dimension(:, :) :: height, east, north, pressure, new_height
    logical, allocatable :: wet(:, :)
    type(column), allocatable :: below(:, :)
    type(tracer_list) :: tracers
  contains
    procedure :: create
    final :: forget
  end type

  type :: extreme
    real(dp) :: value = -huge(1d0)
    integer :: at(2) = 0
  end type
contains
  pure function the_greater(a, b) result(c)
    type(extreme), intent(in) :: a, b
    type(extreme) :: c
    c = a
    if (b%value > a%value .or. (b%value == a%value .and. lower_place(b%at, a%at))) c = b
  end function

  pure logical function lower_place(a, b)
    integer, intent(in) :: a(2), b(2)
    lower_place = a(2) < b(2) .or. (a(2) == b(2) .and. a(1) < b(1))
  end function

  subroutine add_tracer(self, name, nx, ny, decay)
    class(tracer_list), intent(inout) :: self
    character(len=*), intent(in) :: name
    integer, intent(in) :: nx, ny
    real(dp), intent(in) :: decay
    type(tracer), pointer :: fresh
    allocate (fresh)
    fresh%name = name
    allocate (fresh%amount(0:nx + 1, 0:ny + 1), source=0.0_dp)
    fresh%decay = decay
    fresh%next => self%first
    self%first => fresh
    self%length = self%length + 1
  end subroutine

  subroutine clear_tracers(self)
    class(tracer_list), intent(inout) :: self
    type(tracer), pointer :: next
    do while (associated(self%first))
      next => self%first%next
      deallocate (self%first)
      self%first => next
    end do
    self%length = 0
  end subroutine

  subroutine create(self, c)
    class(basin), intent(inout) :: self
    type(configuration), intent(in) :: c
    integer :: i, j, k
    character(len=24) :: name
    self%nx = c%columns
    self%ny = c%rows
    allocate (self%height(0:c%columns + 1, 0:c%rows + 1), self%wet(0:c%columns + 1, 0:c%rows + 1))
    allocate (self%east, self%north, self%pressure, self%new_height, mold=self%height)
    allocate (self%below(c%columns, c%rows))
    self%wet = .false.
    self%new_height = 0
    ! Columns of different depth, each allocated by the thread that has it.
    !$omp parallel do schedule(dynamic, 2) private(i, k)
    do j = 0, c%rows + 1
      do i = 0, c%columns + 1
        self%height(i, j) = 1 + 0.1_dp * exp(-0.05_dp * real((i - 8)**2 + (j - 9)**2, dp))
        self%east(i, j) = 0.05_dp * sin(0.3_dp * j)
        self%north(i, j) = 0.04_dp * cos(0.2_dp * i)
        self%pressure(i, j) = 0
        if (i < 1 .or. j < 1 .or. i > c%columns .or. j > c%rows) cycle
        self%wet(i, j) = mod(i * 13 + j * 7, 17) /= 0
        self%below(i, j)%depth = 1 + mod(i + 2 * j, c%levels)
        allocate (self%below(i, j)%heat(self%below(i, j)%depth))
        do k = 1, self%below(i, j)%depth
          self%below(i, j)%heat(k) = 10.0_dp / k + 0.01_dp * i
        end do
      end do
    end do
    !$omp end parallel do
    do k = 1, c%tracers
      write (name, '(a, i0)') 'tracer number ', k
      call self%tracers%add(trim(name), c%columns, c%rows, 0.001_dp * k)
      self%tracers%first%amount(3:6, 2 + k:5 + k) = k
    end do
  end subroutine

  subroutine forget(self)
    type(basin), intent(inout) :: self
    call self%tracers%clear
  end subroutine
end module

module work_space
  use ocean_types
  implicit none
  ! Each thread's own, allocated at first need and kept from region to region.
  real(dp), allocatable, save :: flux(:), profile(:)
  integer, save :: times_allocated = 0
  !$omp threadprivate(flux, profile, times_allocated)
contains
  subroutine need(length)
    integer, intent(in) :: length
    if (allocated(flux)) then
      if (size(flux) >= length) return
      deallocate (flux, profile)
    end if
    allocate (flux(0:length), profile(0:length))
    times_allocated = times_allocated + 1
  end subroutine
end module

module dynamics
  use ocean_types
  use work_space
  implicit none
contains
  pure subroutine upwind(velocity, amount, fluxes)
    real(dp), intent(in) :: velocity(:), amount(:)
    real(dp), intent(out) :: fluxes(:)
    integer :: i
    do concurrent (i = 1:size(fluxes))
      fluxes(i) = velocity(i) * merge(amount(i), amount(i + 1), velocity(i) > 0)
    end do
  end subroutine

  subroutine advect(b, field, dt)
    type(basin), intent(in) :: b
    real(dp), intent(inout) :: field(0:, 0:)
    real(dp), intent(in) :: dt
    integer :: i, j
    ! Orphaned: rows are strided for Fortran's arrays, so sections of columns come as copies.
    !$omp do schedule(static)
    do j = 1, b%ny
      call need(max(b%nx, b%ny) + 1)
      call upwind(b%east(0:b%nx, j), field(0:b%nx + 1, j), flux(0:b%nx))
      field(1:b%nx, j) = field(1:b%nx, j) - dt * (flux(1:b%nx) - flux(0:b%nx - 1))
    end do
    !$omp end do
    !$omp do schedule(static)
    do i = 1, b%nx
      call need(max(b%nx, b%ny) + 1)
      call upwind(b%north(i, 0:b%ny), field(i, 0:b%ny + 1), flux(0:b%ny))
      field(i, 1:b%ny) = field(i, 1:b%ny) - dt * (flux(1:b%ny) - flux(0:b%ny - 1))
    end do
    !$omp end do
  end subroutine

  ! Rows' sums first and these in order, so that the result has the same bits for any team.
  subroutine dot(nx, ny, a, b, rows, total)
    integer, intent(in) :: nx, ny
    real(dp), intent(in) :: a(0:nx + 1, 0:ny + 1), b(0:nx + 1, 0:ny + 1)
    real(dp), intent(inout) :: rows(:), total
    integer :: j
    !$omp do schedule(static)
    do j = 1, ny
      rows(j) = sum(a(1:nx, j) * b(1:nx, j))
    end do
    !$omp end do
    !$omp single
    total = 0
    do j = 1, ny
      total = total + rows(j)
    end do
    !$omp end single
  end subroutine

  ! Conjugate gradients for (1 - laplace) pressure = height - 1, the whole of it in one region.
  subroutine surface_pressure(b, tolerance, rounds)
    type(basin), intent(inout) :: b
    real(dp), intent(in) :: tolerance
    integer, intent(out) :: rounds
    real(dp), allocatable, dimension(:, :) :: r, p, q
    real(dp) :: rows(b%ny), rr, pq, next, alpha
    integer :: i, j
    allocate (r, p, q, mold=b%height)
    rounds = 0
    !$omp parallel default(none) shared(b, r, p, q, rows, rr, pq, next, alpha, rounds, tolerance) private(i, j)
    !$omp workshare
    r = 0
    q = 0
    b%pressure = 0
    r(1:b%nx, 1:b%ny) = b%height(1:b%nx, 1:b%ny) - 1
    where (.not. b%wet) r = 0
    p = r
    !$omp end workshare
    call dot(b%nx, b%ny, r, r, rows, rr)
    do
      !$omp barrier
      if (rr < tolerance .or. rounds >= 60) exit
      !$omp barrier
      !$omp do schedule(guided)
      do j = 1, b%ny
        do i = 1, b%nx
          q(i, j) = merge(5 * p(i, j) - p(i - 1, j) - p(i + 1, j) - p(i, j - 1) - p(i, j + 1), 0.0_dp, b%wet(i, j))
        end do
      end do
      !$omp end do
      call dot(b%nx, b%ny, p, q, rows, pq)
      !$omp single
      alpha = rr / pq
      rounds = rounds + 1
      !$omp end single
      !$omp workshare
      b%pressure = b%pressure + alpha * p
      r = r - alpha * q
      !$omp end workshare
      call dot(b%nx, b%ny, r, r, rows, next)
      !$omp workshare
      p = r + (next / rr) * p
      !$omp end workshare
      !$omp single
      rr = next
      !$omp end single
    end do
    !$omp end parallel
  end subroutine

  subroutine step(b, c)
    type(basin), intent(inout) :: b
    type(configuration), intent(in) :: c
    type(tracer), pointer :: each
    integer :: i, j, k
    !$omp parallel private(each, i, j, k)
    !$omp do collapse(2)
    do j = 1, b%ny
      do i = 1, b%nx
        associate (here => b%below(i, j))
          b%new_height(i, j) = b%height(i, j) &
                             - c%dt * (b%east(i, j) * (b%height(i + 1, j) - b%height(i - 1, j)) &
                                       + b%north(i, j) * (b%height(i, j + 1) - b%height(i, j - 1))) / 2 &
                             + 1d-4 * here%heat(here%depth)
        end associate
      end do
    end do
    !$omp end do
    !$omp do schedule(static)
    do j = 1, b%ny
      do i = 1, b%nx
        if (.not. b%wet(i, j)) cycle
        b%height(i, j) = b%new_height(i, j)
        b%east(i, j) = b%east(i, j) - c%dt * (b%pressure(i + 1, j) - b%pressure(i, j))
        b%north(i, j) = b%north(i, j) - c%dt * (b%pressure(i, j + 1) - b%pressure(i, j))
      end do
    end do
    !$omp end do
    each => b%tracers%first
    do while (associated(each))
      call advect(b, each%amount, c%dt)
      each => each%next
    end do
    ! Columns mix by a tridiagonal solve in the thread's own arrays.
    !$omp do schedule(dynamic, 1)
    do j = 1, b%ny
      do i = 1, b%nx
        associate (heat => b%below(i, j)%heat, n => b%below(i, j)%depth)
          call need(max(b%nx, b%ny) + 1)
          flux(1) = 0.2_dp / 1.2_dp
          profile(1) = heat(1) / 1.2_dp
          do k = 2, n
            flux(k) = 0.2_dp / (1.4_dp - 0.2_dp * flux(k - 1))
            profile(k) = (heat(k) + 0.2_dp * profile(k - 1)) / (1.4_dp - 0.2_dp * flux(k - 1))
          end do
          heat(n) = profile(n)
          do k = n - 1, 1, -1
            heat(k) = profile(k) + flux(k) * heat(k + 1)
          end do
        end associate
      end do
    end do
    !$omp end do nowait
    ! One task for each tracer.
    !$omp single
    each => b%tracers%first
    do while (associated(each))
      !$omp task firstprivate(each)
      block
        real(dp) :: kept
        kept = 1 - each%decay * c%dt
        each%amount = each%amount * kept
      end block
      !$omp end task
      each => each%next
    end do
    !$omp end single
    !$omp end parallel
  end subroutine
end module

program ocean
  use ocean_types
  use dynamics
  !$ use omp_lib
  implicit none
  type(configuration) :: c
  type :: outcome
    real(dp), allocatable :: height(:, :), heat(:), amounts(:)
    type(extreme) :: highest
    integer :: rounds = 0
    integer(int64) :: wet = 0
    character(len=:), allocatable :: order
  end type
  type(outcome) :: alone, together
  integer :: team, wrong, turn
  team = 1
  !$ team = omp_get_max_threads()
  call read_configuration
  !$ call omp_set_num_threads(1)
  call run(alone)
  !$ call omp_set_num_threads(team)
  wrong = 0
  do turn = 1, 2
    call run(together)
    if (any(together%height /= alone%height)) wrong = wrong + 1
    if (any(together%heat /= alone%heat)) wrong = wrong + 1
    if (any(together%amounts /= alone%amounts)) wrong = wrong + 1
    if (together%rounds /= alone%rounds) wrong = wrong + 1
    if (together%wet /= alone%wet) wrong = wrong + 1
    if (together%order /= alone%order) wrong = wrong + 1
    if (any(together%highest%at /= alone%highest%at)) wrong = wrong + 1
    if (together%highest%value /= alone%highest%value) wrong = wrong + 1
  end do
  ! What a thread allocated it still has: at most once in all.
  !$omp parallel reduction(+: wrong)
  if (times_allocated > 1) wrong = wrong + 1
  !$omp end parallel
  print '(a, f12.8, a, 2i4, a, i0, a, a)', 'highest ', alone%highest%value, ' at ', alone%highest%at, ', rounds ', &
    alone%rounds, ', order ', alone%order
  if (wrong == 0) print '(a)', 'verified'
  if (wrong /= 0) print '(a, i0)', 'WRONG ', wrong
  if (wrong /= 0) stop 1
contains
  subroutine read_configuration
    integer :: unit
    integer :: columns, rows, steps
    namelist /shape/ columns, rows, steps
    open (newunit=unit, status='scratch', action='readwrite')
    write (unit, '(a)') '&shape', ' columns = 26, rows = 18', ' steps = 2', '/'
    rewind (unit)
    columns = c%columns
    rows = c%rows
    steps = c%steps
    read (unit, nml=shape)
    close (unit)
    c%columns = columns
    c%rows = rows
    c%steps = steps
  end subroutine

  subroutine run(result)
    type(outcome), intent(out) :: result
    type(basin) :: b
    type(extreme) :: highest
    type(tracer), pointer :: each
    character(len=3) :: part
    integer :: s, i, j, k
    integer(int64) :: place
    !$omp declare reduction(farthest: extreme: omp_out = the_greater(omp_out, omp_in)) &
    !$omp&  initializer(omp_priv = extreme())
    call b%create(c)
    do s = 1, c%steps
      call surface_pressure(b, c%tolerance, result%rounds)
      call step(b, c)
    end do
    highest = extreme()
    result%order = ''
    allocate (result%heat(c%rows * c%columns), source=0.0_dp)
    place = 0
    !$omp parallel do collapse(2) reduction(farthest: highest)
    do j = 1, c%rows
      do i = 1, c%columns
        highest = the_greater(highest, extreme(b%height(i, j), [i, j]))
        result%heat((j - 1) * c%columns + i) = sum(b%below(i, j)%heat)
      end do
    end do
    !$omp end parallel do
    !$omp parallel do ordered schedule(dynamic) private(part, i)
    do j = 1, c%rows, 5
      i = count(b%wet(:, j))
      write (part, '(i3)') i
      !$omp ordered
      result%order = result%order // part
      !$omp end ordered
      !$omp atomic
      place = place + i
    end do
    !$omp end parallel do
    result%highest = highest
    result%height = b%height
    result%wet = place
    allocate (result%amounts(c%tracers), source=0.0_dp)
    each => b%tracers%first
    do k = 1, c%tracers
      result%amounts(k) = sum(each%amount)
      each => each%next
    end do
  end subroutine
end program
