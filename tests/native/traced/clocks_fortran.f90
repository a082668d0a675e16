! Prints what Fortran's clocks show before a region of the team and behind it: seconds, and of the date those of the day.
program clocks
  use omp_lib
  implicit none
  integer(8) :: ticks, rate
  integer :: date(8), i
  real(8) :: used, shown(4, 2)
  do i = 1, 2
    shown(1, i) = omp_get_wtime()
    call system_clock(ticks, rate)
    shown(2, i) = real(ticks, 8) / real(rate, 8)
    call cpu_time(used)
    shown(3, i) = used
    call date_and_time(values=date)
    shown(4, i) = 3600d0 * date(5) + 60d0 * date(6) + date(7) + 1d-3 * date(8)
    !$omp parallel
    !$omp barrier
    !$omp end parallel
  end do
  do i = 1, 2
    print '(f20.9)', shown(:, i)
  end do
end program clocks
