! Unformatted files by the initial thread, of arrays that the team fills and reads; internal files by all threads.
program files
  use omp_lib
  implicit none
  integer, parameter :: records = 40, words = 1500
  double precision, allocatable :: out(:, :), in(:, :)
  character(60) :: line
  integer :: i, k, unit, wrong, errors, status
  wrong = 0
  errors = 0
  allocate (out(words, records), in(words, records))

  !$omp parallel do
  do i = 1, records
    out(:, i) = [(dble(i * k), k = 1, words)]
  end do

  ! A sequential file, written by the initial thread after the team filled the array.
  in = 0
  open (newunit=unit, status='scratch', form='unformatted')
  write (unit) out
  rewind (unit)
  read (unit) in
  close (unit)
  !$omp parallel do reduction(+:errors)
  do i = 1, records
    if (any(in(:, i) /= out(:, i))) errors = errors + 1
  end do
  call expect(errors == 0, 'the array comes back')

  ! Internal files, private to each thread.
  !$omp parallel do private(line, k, status) reduction(+:errors)
  do i = 1, 200
    write (line, '(a,i6,f10.3)') 'line', i, i / 8d0
    read (line(5:10), '(i6)', iostat=status) k
    if (status /= 0 .or. k /= i) errors = errors + 1
  end do
  call expect(errors == 0, 'internal files')

  include 'expect.fi'
end program
