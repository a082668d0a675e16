! All threads read and write one file that the initial thread opened: records by number, and lines.
program files_parallel
  use omp_lib
  implicit none
  integer, parameter :: records = 40, words = 1500
  double precision, allocatable :: out(:, :), in(:, :)
  character(60) :: line
  integer :: i, k, unit, wrong, status, seen(records)
  wrong = 0
  allocate (out(words, records), in(words, records))

  !$omp parallel do
  do i = 1, records
    out(:, i) = [(dble(i * k), k = 1, words)]
  end do

  ! Direct access: each thread writes records of its own, one at a time.
  open (newunit=unit, status='scratch', access='direct', recl=words * 8, form='unformatted')
  !$omp parallel do schedule(dynamic)
  do i = 1, records
    !$omp critical (file)
    write (unit, rec=i) out(:, i)
    !$omp end critical (file)
  end do
  !$omp parallel do schedule(static, 1)
  do i = records, 1, -1
    !$omp critical (file)
    read (unit, rec=i) in(:, i)
    !$omp end critical (file)
  end do
  close (unit)
  call expect(all(in == out), 'records come back')

  ! Formatted lines from all threads.
  open (newunit=unit, status='scratch', form='formatted')
  !$omp parallel do schedule(static, 1)
  do i = 1, records
    !$omp critical (file)
    write (unit, '(a,1x,i4)') 'thread wrote', i
    !$omp end critical (file)
  end do
  rewind (unit)
  seen = 0
  do
    read (unit, '(a13,i4)', iostat=status) line, k
    if (status /= 0) exit
    seen(k) = seen(k) + 1
  end do
  close (unit)
  call expect(all(seen == 1), 'each line once')

  include 'expect.fi'
end program
