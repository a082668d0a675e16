! Allocatable arrays, pointers, array expressions, workshare, reductions over arrays, arrays passed by section.
module grid_module
  implicit none
  double precision, allocatable :: grid(:, :)
contains
  subroutine relax(from, to)
    double precision, intent(in) :: from(:, :)
    double precision, intent(inout) :: to(:, :)
    integer :: i, j
    !$omp do schedule(static)
    do j = 2, size(from, 2) - 1
      do i = 2, size(from, 1) - 1
        to(i, j) = 0.25d0 * (from(i - 1, j) + from(i + 1, j) + from(i, j - 1) + from(i, j + 1))
      end do
    end do
    !$omp end do
  end subroutine
end module

program arrays
  use omp_lib
  use grid_module
  implicit none
  integer, parameter :: n = 120
  double precision, allocatable :: next(:, :), alone(:, :), alone_next(:, :), private_array(:), sums(:)
  double precision, pointer :: view(:)
  double precision, target :: store(500)
  integer :: step, i, j, wrong, errors
  wrong = 0
  errors = 0

  allocate (grid(n, n), next(n, n), alone(n, n), alone_next(n, n))
  grid = 0
  grid(:, 1) = 100
  next = grid
  alone = grid
  alone_next = grid
  !$omp parallel private(step)
  do step = 1, 10
    call relax(grid, next)
    call relax(next, grid)
  end do
  !$omp end parallel
  do step = 1, 10
    do j = 2, n - 1
      do i = 2, n - 1
        alone_next(i, j) = 0.25d0 * (alone(i - 1, j) + alone(i + 1, j) + alone(i, j - 1) + alone(i, j + 1))
      end do
    end do
    do j = 2, n - 1
      do i = 2, n - 1
        alone(i, j) = 0.25d0 * (alone_next(i - 1, j) + alone_next(i + 1, j) + alone_next(i, j - 1) + alone_next(i, j + 1))
      end do
    end do
  end do
  call expect(all(grid == alone), 'a module array relaxed in parallel')
  deallocate (grid, next)

  ! Each thread allocates its own.
  !$omp parallel private(private_array, i) reduction(+:errors)
  do i = 1, 50
    allocate (private_array(10 * i))
    private_array = omp_get_thread_num() + i
    if (sum(private_array) /= 10d0 * i * (omp_get_thread_num() + i)) errors = errors + 1
    deallocate (private_array)
  end do
  !$omp end parallel
  call expect(errors == 0, 'private allocatable arrays')

  ! An allocated array copied in by each thread.
  allocate (private_array(300))
  private_array = 2
  !$omp parallel firstprivate(private_array) reduction(+:errors)
  if (any(private_array /= 2)) errors = errors + 1
  private_array = omp_get_thread_num()
  !$omp end parallel
  call expect(errors == 0 .and. all(private_array == 2), 'firstprivate allocatable')

  allocate (sums(600))
  sums = 1
  !$omp parallel do reduction(+:sums)
  do i = 1, 6000
    sums(mod(i, 600) + 1) = sums(mod(i, 600) + 1) + 1
  end do
  call expect(all(sums == 11), 'reduction of an allocatable array')

  !$omp parallel workshare
  alone = alone * 2 + 1
  alone_next = alone
  where (alone > 3)
    alone = 3
  end where
  forall (i = 1:500) store(i) = i
  !$omp end parallel workshare
  call expect(maxval(alone) == 3 .and. maxval(alone_next) == 201, 'workshare')
  call expect(sum(store) == 125250, 'workshare forall')

  view => store(1:500:5)
  !$omp parallel do
  do i = 1, size(view)
    view(i) = -view(i)
  end do
  call expect(sum(store) == 125250 - 2 * sum([(dble(i), i = 1, 500, 5)]), 'a pointer to a strided section')

  include 'expect.fi'
end program
