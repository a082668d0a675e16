! Built as prints_library.so with -O2 -shared -fPIC
subroutine tell() bind(c)
  print '(a)', 'from fortran'
end subroutine
