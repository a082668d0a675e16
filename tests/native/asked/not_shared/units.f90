! Built as units with -O1
program units
  use omp_lib
  character(20) :: how
  integer :: unit
  logical :: writes
  call get_command_argument(1, how)
  unit = merge(6, 10, how == 'output')
  if (how /= 'each' .and. how /= 'nobody') open(unit, file='units.txt')
  !$omp parallel num_threads(2) private(writes)
  !$omp critical
  if (how == 'each') open(unit, file='units.txt', position='append')
  writes = .true.
  if (how == 'alone') writes = omp_get_thread_num() == 0
  if (how == 'rewind') then
    if (omp_get_thread_num() == 1) rewind(unit)
    writes = omp_get_thread_num() == 0
  end if
  if (how == 'close') then
    if (omp_get_thread_num() == 1) close(unit)
    writes = .false.
  end if
  if (how == 'nobody') writes = omp_get_thread_num() == 1
  if (writes) write(unit, *) omp_get_thread_num()
  if (how == 'each') close(unit)
  !$omp end critical
  !$omp end parallel
end program
