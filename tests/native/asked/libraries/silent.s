# Built as silent.so with -shared
# An object without a note of its stack: as if it wanted an executable one.
.text
.globl silent
silent: ret
