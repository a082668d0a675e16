! Photons that walk at random through a slab: each batch has a seed of its own, and random numbers come from state that
! is threadprivate; the walk is a recursive procedure, tallies are of a derived type. Batches in a dynamic loop with a
! reduction of an allocatable array, against the same batches serially.
module random_numbers
  use iso_fortran_env, only: int64, real64
  implicit none
  integer, parameter :: states = 64
  integer(int64), save :: state(states) = 0
  integer, save :: used = 0
  !$omp threadprivate(state, used)
contains
  subroutine seed(number)
    integer, intent(in) :: number
    integer :: i
    do i = 1, states
      state(i) = ieor(int(number, int64) * 2654435761_int64, int(i, int64) * 40503_int64)
    end do
    used = 0
  end subroutine
  ! From 0 to less than 1.
  real(real64) function next_random()
    integer :: k
    k = mod(used, states) + 1
    state(k) = mod(state(k) * 1103515245_int64 + 12345_int64, 2147483648_int64)
    used = used + 1
    next_random = real(state(k), real64) / 2147483648.0_real64
  end function
end module

module walks
  use random_numbers
  implicit none
  integer, parameter :: layers = 20
  type :: tally_type
    integer :: absorbed = 0, reflected = 0, passed = 0
    real(real64) :: collisions(layers) = 0
  end type
contains
  recursive subroutine follow(direction, depth, tally, collisions)
    real(real64), intent(in) :: direction, depth
    type(tally_type), intent(inout) :: tally
    integer, intent(in) :: collisions
    integer, parameter :: most_collisions = 200
    real(real64), parameter :: free_path = 0.1d0, absorption = 0.3d0
    real(real64) :: next_depth
    integer :: layer
    next_depth = depth - direction * log(max(next_random(), 1d-12)) * free_path
    if (next_depth < 0) then
      tally%reflected = tally%reflected + 1
    else if (next_depth >= 1) then
      tally%passed = tally%passed + 1
    else
      layer = int(next_depth * layers) + 1
      tally%collisions(layer) = tally%collisions(layer) + 1
      if (next_random() < absorption .or. collisions > most_collisions) then
        tally%absorbed = tally%absorbed + 1
      else
        call follow(2 * next_random() - 1, next_depth, tally, collisions + 1)
      end if
    end if
  end subroutine

  subroutine do_batch(number, tally)
    integer, intent(in) :: number
    type(tally_type), intent(out) :: tally
    integer, parameter :: photons = 100
    integer :: i
    call seed(number)
    do i = 1, photons
      call follow(1d0, 0d0, tally, 0)
    end do
  end subroutine

  type(tally_type) function total(parts)
    type(tally_type), intent(in) :: parts(:)
    integer :: i, k
    total%absorbed = sum(parts%absorbed)
    total%reflected = sum(parts%reflected)
    total%passed = sum(parts%passed)
    do k = 1, layers
      total%collisions(k) = sum([(parts(i)%collisions(k), i = 1, size(parts))])
    end do
  end function
end module

program photons
  use walks
  implicit none
  integer, parameter :: batches = 64
  type(tally_type) :: expected, found, part(batches)
  real(real64), allocatable :: spectrum(:)
  integer :: batch
  do batch = 1, batches
    call do_batch(batch, part(batch))
  end do
  expected = total(part)
  part%absorbed = -1
  allocate (spectrum(layers))
  spectrum = 0
  !$omp parallel do schedule(dynamic, 3) reduction(+: spectrum)
  do batch = 1, batches
    call do_batch(batch, part(batch))
    spectrum = spectrum + part(batch)%collisions
  end do
  found = total(part)
  if (found%absorbed /= expected%absorbed .or. found%reflected /= expected%reflected .or. &
      found%passed /= expected%passed .or. any(nint(spectrum) /= nint(expected%collisions))) then
    print '(a, 6i8)', 'WRONG', found%absorbed, expected%absorbed, found%reflected, expected%reflected, found%passed, &
      expected%passed
    stop 1
  end if
  print '(a, 3i8, f10.1)', 'verified', found%absorbed, found%reflected, found%passed, sum(spectrum)
end program
