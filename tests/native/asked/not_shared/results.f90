! Built as results_O0 with -O0
! Built as results_O2 with -O2
! Built as results_no_plt with -O2 -fno-plt -no-pie
program results
  use omp_lib
  implicit none
  real(8), allocatable :: a(:,:), product(:,:), packed(:), shaped(:,:), least(:), moved(:,:), spreads(:,:,:), unpacked(:,:)
  integer, allocatable :: places(:)
  character(:), allocatable :: text
  character(20) :: padded
  integer :: i, wrong
  allocate (a(40, 50))
  do i = 1, 50
    a(:, i) = i
  end do
  padded = 'some text'
  wrong = 0
!$omp parallel reduction(+:wrong)
  if (omp_get_thread_num() == omp_get_num_threads() - 1) then
    product = matmul(a, transpose(a))
    packed = pack(a, a > 25)
    shaped = reshape(a, [100, 20])
    least = minval(a, dim=2)
    moved = cshift(a, 1, dim=2)
    spreads = spread(a, 1, 3)
    unpacked = unpack(packed, a > 25, 0d0 * a)
    places = maxloc(a, dim=2)
    text = trim(padded) // '.'
  end if
!$omp barrier
  if (any(product /= 42925)) wrong = wrong + 1
  if (sum(packed) /= 38000 .or. size(packed) /= 1000) wrong = wrong + 1
  if (any(shaped(:, 20) < 48)) wrong = wrong + 1
  if (size(least) /= 40 .or. any(least /= 1)) wrong = wrong + 1
  if (any(moved(:, 50) /= 1)) wrong = wrong + 1
  if (any(spreads(2, :, 7) /= 7)) wrong = wrong + 1
  if (sum(unpacked) /= 38000) wrong = wrong + 1
  if (any(places /= 50)) wrong = wrong + 1
  if (text /= 'some text.') wrong = wrong + 1
!$omp end parallel
  deallocate (product, packed, shaped, least, moved, spreads, unpacked, places, text)
  if (wrong /= 0) error stop 1
end program
