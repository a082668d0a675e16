! A small finite-element style program in modern Fortran: types with allocatable components and type-bound procedures,
! polymorphic materials, a declared reduction over a type, reductions over arrays and allocatables, workshare, common
! blocks with copyin, firstprivate arrays, private allocatables, pointers, strings and an elemental function.
module materials
  implicit none
  integer, parameter :: dp = kind(1d0)

  type, abstract :: material
    character(len=:), allocatable :: name
  contains
    procedure(stiffness_of), deferred :: stiffness
  end type
  abstract interface
    pure function stiffness_of(self, strain) result(value)
      import material, dp
      class(material), intent(in) :: self
      real(dp), intent(in) :: strain
      real(dp) :: value
    end function
  end interface

  type, extends(material) :: linear_material
    real(dp) :: modulus = 1
  contains
    procedure :: stiffness => linear_stiffness
  end type
  type, extends(material) :: softening_material
    real(dp) :: modulus = 1, limit = 1
  contains
    procedure :: stiffness => softening_stiffness
  end type

  type :: element
    integer :: nodes(2) = 0
    integer, allocatable :: neighbours(:)
    real(dp), allocatable :: matrix(:, :)
    class(material), allocatable :: stuff
  end type

  type :: extremes
    real(dp) :: least = huge(1d0), greatest = -huge(1d0), sum = 0
    integer :: count = 0
  end type
contains
  pure function linear_stiffness(self, strain) result(value)
    class(linear_material), intent(in) :: self
    real(dp), intent(in) :: strain
    real(dp) :: value
    value = self%modulus + 0 * strain
  end function
  pure function softening_stiffness(self, strain) result(value)
    class(softening_material), intent(in) :: self
    real(dp), intent(in) :: strain
    real(dp) :: value
    value = self%modulus / (1 + (strain / self%limit)**2)
  end function
  elemental function clipped(x, bound) result(y)
    real(dp), intent(in) :: x, bound
    real(dp) :: y
    y = max(-bound, min(bound, x))
  end function
  pure function both(a, b) result(c)
    type(extremes), intent(in) :: a, b
    type(extremes) :: c
    c = extremes(min(a%least, b%least), max(a%greatest, b%greatest), a%sum + b%sum, a%count + b%count)
  end function
end module

program objects
  use materials
  use omp_lib
  implicit none
  integer, parameter :: elements = 240, points = elements + 1
  type(element), allocatable, target :: mesh(:)
  type(extremes) :: measured, expected
  real(dp) :: load(points), displacement(points), residual(points), diagonal(points), assembled(points)
  real(dp) :: tables(8, 8), transposed(8, 8)
  real(dp), target :: products(8, 8)
  real(dp), allocatable :: work(:), histogram(:)
  real(dp), pointer :: view(:, :)
  integer :: wrong, step, i, seed
  integer :: visits(elements), offsets(5)
  character(len=40) :: label
  !$omp declare reduction(both : extremes : omp_out = both(omp_out, omp_in)) initializer(omp_priv = extremes())

  wrong = 0
  call make_mesh()
  call check_mesh()
  displacement = 0
  call random_start(load)
  do step = 1, 4
    call assemble()
    call relax()
  end do
  call measure()
  call count_kinds()
  call arrays()
  call private_state()
  if (wrong == 0) then
    print '(i0,a)', elements, ' elements: verified'
  else
    print '(a,i0)', 'WRONG: ', wrong
    stop 1
  end if

contains

  subroutine expect(holds, what)
    logical, intent(in) :: holds
    character(len=*), intent(in) :: what
    if (holds) return
    wrong = wrong + 1
    print '(a,a)', 'WRONG: ', what
  end subroutine

  subroutine random_start(values)
    real(dp), intent(out) :: values(:)
    integer :: k
    seed = 4711
    do k = 1, size(values)
      seed = mod(seed * 421 + 1663, 7875)
      values(k) = seed / 7875d0 - 0.5d0
    end do
  end subroutine

  ! Each thread allocates components of the elements that it meets.
  subroutine make_mesh()
    integer :: e
    allocate (mesh(elements))
    !$omp parallel do schedule(dynamic, 7) private(label)
    do e = 1, elements
      mesh(e)%nodes = [e, e + 1]
      allocate (mesh(e)%matrix(2, 2))
      mesh(e)%matrix = 0
      if (e == 1) then
        mesh(e)%neighbours = [2]
      else if (e == elements) then
        mesh(e)%neighbours = [elements - 1]
      else
        mesh(e)%neighbours = [e - 1, e + 1]
      end if
      if (mod(e, 3) == 0) then
        allocate (softening_material :: mesh(e)%stuff)
      else
        allocate (linear_material :: mesh(e)%stuff)
      end if
      write (label, '(a,i0)') 'material of element ', e
      mesh(e)%stuff%name = trim(label)
      select type (stuff => mesh(e)%stuff)
      type is (softening_material)
        stuff%modulus = 2 + mod(e, 5)
        stuff%limit = 0.25d0
      type is (linear_material)
        stuff%modulus = 1 + mod(e, 7)
      end select
    end do
  end subroutine

  subroutine check_mesh()
    integer :: e, neighbours
    neighbours = 0
    !$omp parallel do schedule(static, 11) private(label) reduction(+ : neighbours, wrong)
    do e = elements, 1, -1
      write (label, '(a,i0)') 'material of element ', e
      if (mesh(e)%stuff%name /= trim(label) .or. len(mesh(e)%stuff%name) /= len_trim(label)) wrong = wrong + 1
      neighbours = neighbours + size(mesh(e)%neighbours)
      mesh(e)%stuff%name = mesh(e)%stuff%name//', checked'
    end do
    call expect(neighbours == 2 * elements - 2, 'neighbours')
    call expect(all([(index(mesh(e)%stuff%name, ', checked') > 0, e = 1, elements)]), 'names')
  end subroutine

  ! The diagonal by a reduction over an array, and once more with atomic updates.
  subroutine assemble()
    integer :: e, n(2)
    real(dp) :: k
    diagonal = 0
    assembled = 0
    !$omp parallel do private(n, k) reduction(+ : diagonal) schedule(guided)
    do e = 1, elements
      n = mesh(e)%nodes
      k = mesh(e)%stuff%stiffness(displacement(n(2)) - displacement(n(1)))
      mesh(e)%matrix = reshape([k, -k, -k, k], [2, 2])
      diagonal(n) = diagonal(n) + k
      !$omp atomic
      assembled(n(1)) = assembled(n(1)) + k
      !$omp atomic
      assembled(n(2)) = assembled(n(2)) + k
    end do
    call expect(maxval(abs(assembled - diagonal)) < 1d-12 * maxval(diagonal), 'assembly')
  end subroutine

  ! Jacobi steps with workshare; the same serially.
  subroutine relax()
    real(dp) :: reference(points), r(points)
    integer :: round, e
    reference = displacement
    do round = 1, 5
      residual = load
      !$omp parallel private(e)
      !$omp do reduction(+ : residual)
      do e = 1, elements
        residual(e:e + 1) = residual(e:e + 1) - matmul(mesh(e)%matrix, displacement(e:e + 1))
      end do
      !$omp end do
      !$omp workshare
      displacement = clipped(displacement + 0.5d0 * residual / diagonal, 10d0)
      where (abs(displacement) < 1d-14) displacement = 0
      forall (e=1:points, mod(e, 80) == 1) displacement(e) = 0
      !$omp end workshare
      !$omp end parallel
      r = load
      do e = 1, elements
        r(e:e + 1) = r(e:e + 1) - matmul(mesh(e)%matrix, reference(e:e + 1))
      end do
      reference = clipped(reference + 0.5d0 * r / diagonal, 10d0)
      where (abs(reference) < 1d-14) reference = 0
      reference(1:points:80) = 0
    end do
    call expect(maxval(abs(reference - displacement)) < 1d-12, 'relaxation')
  end subroutine

  subroutine measure()
    integer :: e
    real(dp) :: strain
    do e = 1, elements
      strain = displacement(e + 1) - displacement(e)
      expected = both(expected, extremes(strain, strain, strain, 1))
    end do
    !$omp parallel do private(strain) reduction(both : measured) schedule(dynamic, 9)
    do e = 1, elements
      strain = displacement(e + 1) - displacement(e)
      measured = both(measured, extremes(strain, strain, strain, 1))
    end do
    call expect(measured%count == elements .and. measured%least == expected%least .and. &
                measured%greatest == expected%greatest .and. abs(measured%sum - expected%sum) < 1d-12, 'extremes')
  end subroutine

  ! An allocatable array in a reduction, an array that each thread starts with, and a critical section.
  subroutine count_kinds()
    integer :: e
    allocate (histogram(5), source=1d0)
    offsets = [1, 2, 3, 4, 5]
    visits = 0
    !$omp parallel do reduction(+ : histogram) firstprivate(offsets) schedule(static, 3)
    do e = 1, elements
      offsets = cshift(offsets, 1)
      histogram(mod(e, 5) + 1) = histogram(mod(e, 5) + 1) + 1
      if (sum(offsets) /= 15) histogram = -1
      !$omp critical (counting)
      visits(e) = visits(e) + 1
      !$omp end critical (counting)
    end do
    call expect(all(histogram == 1 + elements / 5) .and. all(visits == 1), 'histogram')
    call expect(all(offsets == [1, 2, 3, 4, 5]), 'firstprivate')
  end subroutine

  subroutine arrays()
    integer :: a, b
    !$omp parallel
    !$omp workshare
    forall (a=1:8, b=1:8) tables(a, b) = a + 10 * b
    transposed = transpose(tables)
    !$omp end workshare
    !$omp workshare
    products = matmul(tables, transposed)
    !$omp end workshare
    !$omp end parallel
    view => products(2:8:3, ::2)
    !$omp parallel do collapse(2)
    do b = 1, size(view, 2)
      do a = 1, size(view, 1)
        view(a, b) = -view(a, b)
      end do
    end do
    call expect(products(2, 3) == -dot_product(tables(2, :), tables(3, :)), 'a view of an array')
    call expect(products(3, 3) == dot_product(tables(3, :), tables(3, :)), 'products')
  end subroutine

  ! Common blocks: one shared, one of each thread, which keeps it from region to region.
  subroutine private_state()
    integer :: round, bad, own
    real(dp) :: factors
    common /settings/ factors(4)
    common /own_state/ own(3)
    !$omp threadprivate(/own_state/)
    own = [7, 8, 9]
    factors = 0
    bad = 0
    !$omp parallel copyin(/own_state/) private(work) reduction(+ : bad)
    if (any(own /= [7, 8, 9])) bad = bad + 1
    own(1) = omp_get_thread_num()
    allocate (work(50 + own(1)))
    work = own(1)
    !$omp barrier
    if (sum(work) /= dble(own(1)) * (50 + own(1))) bad = bad + 1
    deallocate (work)
    !$omp end parallel
    do round = 1, 3
      !$omp parallel reduction(+ : bad)
      own(2) = own(2) + 1
      if (own(1) /= omp_get_thread_num() .or. own(2) /= 8 + round .or. own(3) /= 9) bad = bad + 1
      !$omp do
      do i = 1, 4
        factors(i) = factors(i) + i * round
      end do
      !$omp end do
      if (any(factors /= [(dble(i * round * (round + 1) / 2), i = 1, 4)])) bad = bad + 1
      !$omp end parallel
    end do
    call expect(bad == 0, 'common blocks')
  end subroutine
end program
