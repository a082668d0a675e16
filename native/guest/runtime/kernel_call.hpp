/// System calls without the C library: its functions of these names may be the program's, or entry points of the
/// run-time.
#pragma once

namespace sdsm::program {

struct KernelArguments {
  long arguments[6];
};

/// Makes the call. Answers as the kernel does, with -EFAULT, say.
long call_kernel(long number, const KernelArguments& call);
/// The answer as a function of the C library would return it, with errno.
long as_library(long answer);

}  // namespace sdsm::program
