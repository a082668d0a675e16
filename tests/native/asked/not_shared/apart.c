// Built as apart with -no-pie -Wl,--section-start=.between=0x800000 -Wl,--section-start=.high=0xa00000
__attribute__((section(".between,\"a\"#"))) const int constant = 1;
__attribute__((section(".high"))) int variable = 1;
int main(void) {
#pragma omp parallel
  if (variable != constant) __builtin_trap();
}
