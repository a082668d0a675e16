# Among files that are compiled together, -Wshadow would take one file's names for shadows of another's.
if(SDSM_FILES_AT_A_TIME EQUAL 1)
  set(sdsm_shadow -Wshadow)
else()
  set(sdsm_shadow $<$<CXX_COMPILER_ID:GNU>:-Wshadow=local>)
endif()
# One interface target instead of global flags: what we compile links it, what we merely use does not.
add_library(sdsm_warnings INTERFACE)
target_compile_options(sdsm_warnings INTERFACE
  -Wall -Wextra -Wpedantic ${sdsm_shadow} -Wconversion -Wno-sign-conversion
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Woverloaded-virtual>)
if(SDSM_WERROR)
  target_compile_options(sdsm_warnings INTERFACE -Werror)
endif()
if(SDSM_SANITIZE)
  # The libraries that take libgomp's place handle SIGSEGV and the stack themselves, which the sanitizers cannot follow;
  # they do not link this target.
  target_compile_options(sdsm_warnings INTERFACE
    # -O1 for what the tests call, which then runs three times as fast; the tests' own code builds in half the time
    # without. With it, gcc takes what the sanitizers add for variables that are not set. -g1 keeps the lines of reports.
    -O$<IF:$<BOOL:$<TARGET_PROPERTY:SDSM_IS_TEST>>,0,1> -g1 -Wno-maybe-uninitialized -fsanitize=${SDSM_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  # SimGrid's headers have fences, which the thread sanitizer cannot follow.
  if(SDSM_SANITIZE MATCHES "thread")
    target_compile_options(sdsm_warnings INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-tsan>)
  endif()
  target_link_options(sdsm_warnings INTERFACE -fsanitize=${SDSM_SANITIZE})
endif()
