! As constructs.c, in Fortran.
!
!   planted_constructs_fortran triangle|sum|waits [mended]
program constructs
  use omp_lib
  implicit none
  integer, parameter :: rounds = 40, words = 1024
  real(8), allocatable :: grid(:, :)
  character(16) :: name, how
  logical :: is_mended

  call get_command_argument(1, name)
  call get_command_argument(2, how)
  is_mended = how == "mended"
  allocate(grid(words, 32))
  grid = 1
  select case (name)
  case ("triangle")
    call triangle()
  case ("sum")
    call summed()
  case ("waits")
    call waits()
  case default
    stop 2
  end select
  print *, sum(grid)

contains

  ! Columns of a triangle, shared out in blocks; mended, by turns.
  subroutine triangle()
    integer :: round, column
    call omp_set_schedule(omp_sched_static, merge(1, 8, is_mended))
    !$omp parallel private(round)
    do round = 1, 2
      !$omp do schedule(static)
      do column = 1, 32
        call work(column, 800000)
      end do
      !$omp end do
      !$omp do schedule(runtime) ! planted: triangle
      do column = 1, 32
        call work(column, 640000 * column)
      end do
      !$omp end do
    end do
    !$omp end parallel
  end subroutine

  subroutine work(column, times)
    integer, intent(in) :: column, times
    integer :: i
    real(8) :: value
    value = grid(1, column)
    do i = 1, times
      value = value * 0.999999d0 + 1d-6
    end do
    grid(1, column) = value
  end subroutine

  ! A sum by a critical section.
  subroutine summed()
    integer :: i
    real(8) :: total
    total = 0
    if (is_mended) then
      !$omp parallel do reduction(+: total)
      do i = 1, 8 * rounds
        total = total + i
      end do
    else
      !$omp parallel do
      do i = 1, 8 * rounds
        !$omp critical ! planted: sum
        total = total + i
        !$omp end critical
      end do
    end if
    grid(1, 1) = total
  end subroutine

  ! A loop whose end nobody has to wait for, beside two whose end they have to.
  subroutine waits()
    integer :: round, self, next
    !$omp parallel private(round, self, next)
    self = omp_get_thread_num() + 1
    next = mod(self, omp_get_num_threads()) + 1
    do round = 1, rounds
      grid(1, self) = grid(1, self) + 1
      !$omp barrier
      grid(1, 16 + self) = grid(1, 16 + self) + grid(1, next)
      if (.not. is_mended) then
        !$omp barrier ! planted: waits
      end if
      grid(2, 16 + self) = grid(2, 16 + self) + 1
      !$omp barrier
    end do
    !$omp end parallel
  end subroutine
end program
