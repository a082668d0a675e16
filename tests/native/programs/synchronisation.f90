! critical, atomic (complex too), locks, single with copyprivate, sections, master, tasks, barrier and flush.
program synchronisation
  use omp_lib
  implicit none
  integer :: wrong, team, counter, ticket, tickets, errors, i, value, first, second, made
  integer(omp_lock_kind) :: lock
  integer(omp_nest_lock_kind) :: nest_lock
  complex(8) :: walk
  real(16) :: fine
  integer :: result
  wrong = 0
  errors = 0
  counter = 0
  tickets = 0
  walk = 0
  fine = 0
  team = 1

  !$omp parallel private(i, ticket)
  !$omp master
  team = omp_get_num_threads()
  !$omp end master
  do i = 1, 100
    !$omp critical
    counter = counter + 1
    !$omp end critical
    !$omp critical (named)
    counter = counter + 0
    !$omp end critical (named)
    !$omp atomic
    walk = walk + (1d0, 2d0)
    !$omp atomic
    fine = fine + 0.25_16
    !$omp atomic capture
    ticket = tickets
    tickets = tickets + 1
    !$omp end atomic
    if (ticket < 0) errors = 1
  end do
  !$omp end parallel
  call expect(tickets == 100 * team, 'atomic capture')
  call expect(walk == cmplx(100 * team, 200 * team, 8), 'atomic on complex')
  call expect(fine == 25.0_16 * team, 'atomic on 16-byte reals')
  call expect(errors == 0, 'tickets are not negative')

  counter = 0
  call omp_init_lock(lock)
  call omp_init_nest_lock(nest_lock)
  !$omp parallel private(i)
  do i = 1, 50
    call omp_set_lock(lock)
    counter = counter + 1
    call omp_unset_lock(lock)
    do while (.not. omp_test_lock(lock))
    end do
    counter = counter + 1
    call omp_unset_lock(lock)
    call omp_set_nest_lock(nest_lock)
    if (omp_test_nest_lock(nest_lock) /= 2) errors = 1
    call omp_unset_nest_lock(nest_lock)
    call omp_unset_nest_lock(nest_lock)
  end do
  !$omp end parallel
  call omp_destroy_lock(lock)
  call omp_destroy_nest_lock(nest_lock)
  call expect(counter == 100 * team, 'locks')
  call expect(errors == 0, 'nested locks')

  !$omp parallel private(value) reduction(+:errors)
  value = 0
  !$omp single
  value = 17
  !$omp end single copyprivate(value)
  if (value /= 17) errors = errors + 1
  !$omp barrier
  !$omp flush
  !$omp end parallel
  call expect(errors == 0, 'copyprivate')

  !$omp parallel private(value) reduction(+:errors)
  !$omp atomic write
  first = 17
  !$omp barrier
  !$omp atomic read
  value = first
  if (value /= 17) errors = errors + 1
  !$omp end parallel
  call expect(errors == 0, 'atomic write and read')

  first = 0
  second = 0
  !$omp parallel sections
  !$omp section
  first = 1
  !$omp section
  second = 2
  !$omp end parallel sections
  call expect(first == 1 .and. second == 2, 'sections')

  made = 0
  !$omp parallel
  !$omp single
  do i = 1, 30
    !$omp task shared(made) firstprivate(i)
    !$omp critical
    made = made + i
    !$omp end critical
    !$omp end task
  end do
  !$omp taskwait
  !$omp end single
  !$omp end parallel
  call expect(made == 465, 'tasks')

  !$omp parallel
  !$omp single
  result = fibonacci(12)
  !$omp end single
  !$omp end parallel
  call expect(result == 144, 'recursive tasks')

  call expect(omp_get_max_threads() >= 1 .and. omp_get_thread_num() == 0 .and. .not. omp_in_parallel(), 'queries')
  call omp_set_num_threads(3)
  !$omp parallel
  !$omp master
  team = omp_get_num_threads()
  !$omp end master
  !$omp end parallel
  call expect(team == 3, 'omp_set_num_threads')
  call expect(omp_get_wtime() > 0d0 .and. omp_get_wtick() > 0d0, 'clock')

  include 'expect.fi'
  recursive integer function fibonacci(i) result(f)
    integer, value :: i
    integer :: a, b
    if (i < 2) then
      f = i
      return
    end if
    !$omp task shared(a) firstprivate(i)
    a = fibonacci(i - 1)
    !$omp end task
    !$omp task shared(b) firstprivate(i)
    b = fibonacci(i - 2)
    !$omp end task
    !$omp taskwait
    f = a + b
  end function
end program
