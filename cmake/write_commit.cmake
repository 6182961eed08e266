# Writes OUTPUT, a C++ source that says which commit of SOURCE is being built; only when that has changed.
find_package(Git QUIET)
set(commit "unknown")
if(Git_FOUND)
  execute_process(
    COMMAND ${GIT_EXECUTABLE} -C ${SOURCE} describe --always --abbrev=12 --dirty --exclude=*
    OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed)
    set(commit ${described})
  endif()
endif()
set(text "#include \"tuner/commands/commit.hpp\"\n
const char* stencil_tune::built_from_commit() noexcept { return \"${commit}\"; }\n")
set(before "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} before)
endif()
if(NOT before STREQUAL text)
  file(WRITE ${OUTPUT} "${text}")
endif()
