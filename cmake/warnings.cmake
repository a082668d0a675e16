# One interface target instead of global flags: what we compile links it, what we merely use does not.
add_library(sdsm_warnings INTERFACE)
target_compile_options(sdsm_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Woverloaded-virtual>)
if(SDSM_WERROR)
  target_compile_options(sdsm_warnings INTERFACE -Werror)
endif()
if(SDSM_SANITIZE)
  # A library that takes libgomp's place handles SIGSEGV and the stack itself, which the sanitizers cannot follow: such
  # a target sets the property SDSM_UNSANITIZED.
  set(sanitized $<NOT:$<BOOL:$<TARGET_PROPERTY:SDSM_UNSANITIZED>>>)
  target_compile_options(sdsm_warnings INTERFACE
    $<${sanitized}:-fsanitize=address,undefined>
    $<${sanitized}:-fno-sanitize-recover=all>
    $<${sanitized}:-fno-omit-frame-pointer>)
  target_link_options(sdsm_warnings INTERFACE $<${sanitized}:-fsanitize=address,undefined>)
endif()
