program seeded
  use omp_lib
  implicit none
  integer :: length, i
  integer, allocatable :: seed(:)
  real :: numbers(0:63)
!$omp parallel private(length, seed)
  call random_seed(size=length)
  allocate(seed(length))
  seed = 4711 + omp_get_thread_num()
!$omp critical
  call random_seed(put=seed)
  call random_number(numbers(omp_get_thread_num()))
!$omp end critical
!$omp end parallel
  do i = 0, omp_get_max_threads() - 1
    print '(f9.6)', numbers(i)
  end do
end program
