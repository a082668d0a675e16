! common blocks, shared and threadprivate; copyin; saved variables; module variables.
module state
  implicit none
  integer :: shared_counter = 0
  integer, save :: own_counter = 0
  !$omp threadprivate(own_counter)
end module

subroutine add_to_commons(amount)
  implicit none
  integer, intent(in) :: amount
  double precision :: field(900)
  integer :: total, mine, scratch(700)
  common /everyones/ field, total
  common /own/ mine, scratch
  !$omp threadprivate(/own/)
  mine = mine + amount
  scratch(700) = scratch(700) + 1
  !$omp critical
  total = total + amount
  !$omp end critical
end subroutine

block data
  implicit none
  double precision :: field(900)
  integer :: total
  common /everyones/ field, total
  data field /900*0.5d0/, total /10/
end block data

program common_blocks
  use omp_lib
  use state
  implicit none
  double precision :: field(900)
  integer :: total, mine, scratch(700)
  common /everyones/ field, total
  common /own/ mine, scratch
  !$omp threadprivate(/own/)
  integer :: wrong, errors, team, i
  wrong = 0
  errors = 0
  team = 1

  call expect(field(900) == 0.5d0 .and. total == 10, 'block data')
  !$omp parallel private(i)
  mine = 0
  scratch = 0
  !$omp master
  team = omp_get_num_threads()
  !$omp end master
  do i = 1, 20
    call add_to_commons(omp_get_thread_num() + 1)
  end do
  !$omp do
  do i = 1, 900
    field(i) = field(i) + i
  end do
  !$omp critical
  shared_counter = shared_counter + 1
  !$omp end critical
  own_counter = omp_get_thread_num()
  !$omp end parallel
  call expect(total == 10 + 20 * team * (team + 1) / 2, 'the shared common block')
  call expect(sum(field) == 900 * 0.5d0 + 405450, 'the array in it')
  call expect(shared_counter == team, 'a module variable')
  call expect(mine == 20, 'the initial thread has its own copy')

  !$omp parallel reduction(+:errors)
  if (mine /= 20 * (omp_get_thread_num() + 1)) errors = errors + 1
  if (scratch(700) /= 20) errors = errors + 1
  if (own_counter /= omp_get_thread_num()) errors = errors + 1
  !$omp end parallel
  call expect(errors == 0, 'threadprivate values last from region to region')

  mine = 77
  scratch(700) = 99
  own_counter = 5
  !$omp parallel copyin(/own/, own_counter) reduction(+:errors)
  if (mine /= 77 .or. scratch(700) /= 99 .or. own_counter /= 5) errors = errors + 1
  !$omp end parallel
  call expect(errors == 0, 'copyin')

  include 'expect.fi'
end program
