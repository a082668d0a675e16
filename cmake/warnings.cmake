# One interface target instead of global flags: what we compile links it, what we merely use does not.
add_library(sdsm_warnings INTERFACE)
target_compile_options(sdsm_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Woverloaded-virtual>)
if(SDSM_WERROR)
  target_compile_options(sdsm_warnings INTERFACE -Werror)
endif()
if(SDSM_SANITIZE)
  target_compile_options(sdsm_warnings INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=undefined
                                                 -fno-omit-frame-pointer)
  target_link_options(sdsm_warnings INTERFACE -fsanitize=address,undefined)
endif()
