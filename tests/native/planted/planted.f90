! A program in Fortran with one fault planted, at a line that a comment names (see planted.c): rows are shared out, where
! Fortran keeps columns together.
program planted
  use omp_lib
  implicit none
  integer, parameter :: rounds = 20, rows = 512, columns = 64
  real(8), allocatable :: grid(:, :)
  integer :: round, row, column

  allocate(grid(rows, columns)) ! planted: rows
  grid = 0
  do round = 1, rounds
    !$omp parallel do private(column)
    do row = 1, rows
      do column = 1, columns
        grid(row, column) = grid(row, column) + row ! touched: rows
      end do
    end do
  end do
  print *, sum(grid)
end program planted
