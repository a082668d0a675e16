! target, teams, doacross loops and scans from Fortran.
program offload
  use omp_lib
  implicit none
  integer, parameter :: n = 50
  integer :: i, j, total, wrong = 0
  integer :: line(n), grid(0:n, 0:n), sums(n)

  line = 0
  total = 0
  !$omp target map(tofrom: line)
  do i = 1, n
    line(i) = i
  end do
  !$omp end target
  !$omp target teams distribute parallel do map(tofrom: line, total) reduction(+: total)
  do i = 1, n
    line(i) = line(i) + 1
    total = total + line(i)
  end do
  !$omp end target teams distribute parallel do
  call expect(total == n * (n + 1) / 2 + n, 'target')
  !$omp target data map(tofrom: line)
  !$omp target update to(line)
  !$omp target parallel do
  do i = 1, n
    line(i) = line(i) - 1
  end do
  !$omp end target data
  call expect(all(line == [(i, i = 1, n)]), 'target data')

  !$omp parallel do ordered(1) schedule(static, 3)
  do i = 1, n
    !$omp ordered depend(sink: i - 1)
    if (i > 1) line(i) = line(i - 1) + i
    !$omp ordered depend(source)
  end do
  call expect(line(n) == n * (n + 1) / 2, 'doacross')

  grid = 1
  !$omp parallel do ordered(2) schedule(dynamic) private(j)
  do i = 1, n
    do j = 1, n
      !$omp ordered depend(sink: i - 1, j) depend(sink: i, j - 1)
      grid(j, i) = mod(grid(j, i - 1) + grid(j - 1, i), 997)
      !$omp ordered depend(source)
    end do
  end do
  total = 0
  do i = 1, n
    do j = 1, n
      if (grid(j, i) /= mod(grid(j, i - 1) + grid(j - 1, i), 997)) total = total + 1
    end do
  end do
  call expect(total == 0, 'doacross of two loops')

  total = 0
  !$omp parallel do reduction(inscan, +: total)
  do i = 1, n
    total = total + i
    !$omp scan inclusive(total)
    sums(i) = total
  end do
  call expect(total == n * (n + 1) / 2 .and. sums(2) == 3, 'scan')

  total = 0
  !$omp parallel
  !$omp master
  !$omp taskloop reduction(+: total) grainsize(4)
  do i = 1, n
    total = total + i
  end do
  !$omp end taskloop
  !$omp end master
  !$omp end parallel
  call expect(total == n * (n + 1) / 2, 'taskloop')
  !$omp teams distribute parallel do
  do i = 1, n
    sums(i) = i
  end do
  call expect(all(sums == [(i, i = 1, n)]), 'teams')
  include 'expect.fi'
end program
