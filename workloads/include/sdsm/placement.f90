! The calls of placement.h and of divide.h for Fortran. Compile placement_fortran.c, too:
!
!   gcc -fopenmp -O2 -I workloads/include -c workloads/include/sdsm/placement_fortran.c
!   gfortran -fopenmp -O2 workloads/include/sdsm/placement.f90 program.f90 placement_fortran.o
!
! There is no sdsm_map: gfortran cannot put a static array on a page boundary. Allocate it instead:
!
!   type(c_ptr) :: block
!   real(c_double), pointer :: grid(:, :)
!   block = sdsm_galloc(8_c_size_t * n * n, sdsm_block)
!   call c_f_pointer(block, grid, [n, n])
module sdsm_placement
  use, intrinsic :: iso_c_binding, only: c_int, c_long, c_ptr, c_size_t
  implicit none
  private
  public :: sdsm_round_robin, sdsm_block, sdsm_galloc, sdsm_gfree, sdsm_home, sdsm_affinity
  public :: sdsm_by_block, sdsm_by_round_robin, sdsm_divide, sdsm_unite, sdsm_gang_barrier, sdsm_get_thread_num, &
            sdsm_get_num_threads, sdsm_get_gang_num, sdsm_get_num_gangs, sdsm_for_begin, sdsm_for_end, sdsm_for_end_nowait

  ! Home of page i of N over P threads: i mod P, or floor(i P / N).
  integer(c_int), parameter :: sdsm_round_robin = 0, sdsm_block = 1

  ! How threads are divided into gangs: see partition.h.
  integer(c_int), parameter :: sdsm_by_block = 0, sdsm_by_round_robin = 1

  interface
    ! Divides the calling thread's gang, at first the team; sdsm_unite leaves the gang, and waits for all of them.
    subroutine sdsm_divide(partition, gangs, unit) bind(c, name='sdsm_fortran_divide')
      import :: c_int
      integer(c_int), value :: partition, gangs, unit
    end subroutine
    subroutine sdsm_unite() bind(c, name='sdsm_fortran_unite')
    end subroutine

    subroutine sdsm_gang_barrier() bind(c, name='sdsm_fortran_gang_barrier')
    end subroutine

    ! The thread's number in its gang, from 0, and the gang's size; the gang's number, from 0, and how many there are.
    integer(c_int) function sdsm_get_thread_num() bind(c, name='sdsm_fortran_get_thread_num')
      import :: c_int
    end function
    integer(c_int) function sdsm_get_num_threads() bind(c, name='sdsm_fortran_get_num_threads')
      import :: c_int
    end function
    integer(c_int) function sdsm_get_gang_num() bind(c, name='sdsm_fortran_get_gang_num')
      import :: c_int
    end function
    integer(c_int) function sdsm_get_num_gangs() bind(c, name='sdsm_fortran_get_num_gangs')
      import :: c_int
    end function

    ! The calling thread's share of its gang's loop over first .. last, as begin .. end; none if begin > end.
    subroutine sdsm_for_begin(first, last, begin, end) bind(c, name='sdsm_fortran_for_begin')
      import :: c_long
      integer(c_long), value :: first, last
      integer(c_long), intent(out) :: begin, end
    end subroutine
    subroutine sdsm_for_end() bind(c, name='sdsm_fortran_for_end')
    end subroutine
    subroutine sdsm_for_end_nowait() bind(c, name='sdsm_fortran_for_end_nowait')
    end subroutine

    ! Returns memory on a page boundary with this distribution, uninitialised; c_null_ptr if it is exhausted.
    type(c_ptr) function sdsm_galloc(bytes, distribution) bind(c, name='sdsm_fortran_galloc')
      import :: c_int, c_ptr, c_size_t
      integer(c_size_t), value :: bytes
      integer(c_int), value :: distribution
    end function

    ! Frees memory of sdsm_galloc.
    subroutine sdsm_gfree(block) bind(c, name='sdsm_fortran_gfree')
      import :: c_ptr
      type(c_ptr), value :: block
    end subroutine

    ! Number of the thread that is the home of the page at an address; -1 where pages have no home.
    integer(c_int) function sdsm_home(address) bind(c, name='sdsm_fortran_home')
      import :: c_int, c_ptr
      type(c_ptr), value :: address
    end function

    ! The columns of first .. last (counted from 1) that the calling thread should work on, as begin .. end; none if
    ! begin > end. The array's columns have column_bytes bytes each, and column 1 lies at `array`.
    subroutine sdsm_affinity(array, column_bytes, first, last, begin, end) bind(c, name='sdsm_fortran_affinity')
      import :: c_long, c_ptr, c_size_t
      type(c_ptr), value :: array
      integer(c_size_t), value :: column_bytes
      integer(c_long), value :: first, last
      integer(c_long), intent(out) :: begin, end
    end subroutine
  end interface
end module
