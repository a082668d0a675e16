! do loops: schedules, steps, collapse, ordered, lastprivate, reductions of scalars and arrays.
program loops
  use omp_lib
  implicit none
  integer, parameter :: n = 2000
  integer :: i, j, k, last, wrong, sequence(n), next
  integer :: visits(n)
  integer(8) :: total
  double precision :: real_sum, largest, smallest
  integer :: histogram(0:99), expected(0:99)
  complex(8) :: walk
  logical :: all_set, any_set
  wrong = 0

  visits = 0
  !$omp parallel do
  do i = 1, n
    visits(i) = visits(i) + 1
  end do
  !$omp end parallel do
  !$omp parallel
  !$omp do schedule(static, 7)
  do i = n, 1, -1
    visits(i) = visits(i) + 1
  end do
  !$omp do schedule(dynamic, 5)
  do i = 1, n, 2
    visits(i) = visits(i) + 1
  end do
  !$omp do schedule(guided)
  do i = 2, n, 2
    visits(i) = visits(i) + 1
  end do
  !$omp end do nowait
  !$omp barrier
  !$omp do schedule(runtime)
  do i = 1, n
    visits(i) = visits(i) + 1
  end do
  !$omp end parallel
  call expect(all(visits == 4), 'each iteration runs once')

  visits = 0
  !$omp parallel do collapse(2) private(k)
  do i = 1, n / 100
    do j = 1, 100
      k = (i - 1) * 100 + j
      visits(k) = visits(k) + 1
    end do
  end do
  call expect(all(visits == 1), 'collapsed loops cover all')

  next = 0
  !$omp parallel do ordered schedule(dynamic, 3)
  do i = 1, 200
    !$omp ordered
    next = next + 1
    sequence(next) = i
    !$omp end ordered
  end do
  call expect(next == 200 .and. all(sequence(1:200) == [(i, i = 1, 200)]), 'ordered parts in order')

  total = 0
  real_sum = 0
  largest = -huge(largest)
  smallest = huge(smallest)
  walk = (0d0, 0d0)
  all_set = .true.
  any_set = .false.
  last = 0
  !$omp parallel do reduction(+:total, real_sum, walk) reduction(max:largest) reduction(min:smallest) &
  !$omp reduction(.and.:all_set) reduction(.or.:any_set) lastprivate(last)
  do i = 1, n
    total = total + i
    real_sum = real_sum + 0.5d0
    walk = walk + (1d0, -2d0)
    largest = max(largest, dble(mod(i * 7, n)))
    smallest = min(smallest, dble(mod(i * 7, n)))
    all_set = all_set .and. i > 0
    any_set = any_set .or. i == 77
    last = i
  end do
  call expect(total == int(n, 8) * (n + 1) / 2, 'integer sum')
  call expect(real_sum == 0.5d0 * n, 'real sum')
  call expect(walk == cmplx(n, -2 * n, 8), 'complex sum')
  call expect(largest == n - 1 .and. smallest == 0, 'extremes')
  call expect(all_set .and. any_set, 'logical reductions')
  call expect(last == n, 'lastprivate')

  histogram = 0
  !$omp parallel do reduction(+:histogram)
  do i = 1, n
    histogram(mod(i, 100)) = histogram(mod(i, 100)) + i
  end do
  expected = 0
  do i = 1, n
    expected(mod(i, 100)) = expected(mod(i, 100)) + i
  end do
  call expect(all(histogram == expected), 'array reduction')

  include 'expect.fi'
end program
