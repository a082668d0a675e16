! Internal procedures as arguments: gfortran puts the code that finds their variables on the stack.
program internal_procedures
  use omp_lib
  implicit none
  integer, parameter :: n = 4000
  integer :: i, wrong, factor, values(n)
  wrong = 0

  do factor = 2, 4
    values = 0
    ! The initial thread's procedure, called by all.
    !$omp parallel do
    do i = 1, n
      call apply(store, i)
    end do
    call expect(all(values == [(factor * i, i = 1, n)]), 'procedure of the initial thread')
  end do
  call expect(sum_of_members() == 4950 * 3 * omp_get_max_threads(), 'procedure of each thread')

  include 'expect.fi'

  subroutine store(i)
    integer, intent(in) :: i
    values(i) = factor * i
  end subroutine

  integer function sum_of_members()
    integer :: total
    integer, external :: own_sum
    total = 0
    !$omp parallel reduction(+:total)
    total = total + own_sum()
    !$omp end parallel
    sum_of_members = total
  end function
end program

recursive function own_sum() result(own)
  implicit none
  integer :: own
  integer :: i, round
  own = 0
  ! The others' code lies on their own stacks.
  do round = 1, 3
    do i = 0, 99
      call apply(add, i)
    end do
    !$omp barrier
  end do
contains
  subroutine add(i)
    integer, intent(in) :: i
    own = own + i
  end subroutine
end function

subroutine apply(procedure, i)
  implicit none
  external :: procedure
  integer, intent(in) :: i
  call procedure(i)
end subroutine
