# Installs BUILD into a prefix of its own, then configures, builds and runs CONSUMER against that prefix alone.
cmake_minimum_required(VERSION 3.24)

set(prefix ${SCRATCH}/prefix)
set(consumer_build ${SCRATCH}/consumer)
file(REMOVE_RECURSE ${prefix} ${consumer_build})

function(step)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

step(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})

# The tree must be relocatable: nothing in it may name the folders it was built from.
file(GLOB_RECURSE package_files ${prefix}/*.cmake)
foreach(file IN LISTS package_files)
  file(READ ${file} text)
  string(FIND "${text}" "${SOURCE}" position)
  if(NOT position EQUAL -1)
    message(FATAL_ERROR "${file} names the source folder ${SOURCE}")
  endif()
endforeach()

set(flags)
if(SANITIZE)
  set(flags -fsanitize=address,undefined)
endif()
step(${CMAKE_COMMAND} -S ${CONSUMER} -B ${consumer_build} -G ${GENERATOR}
  -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_CXX_FLAGS=${flags} -D CMAKE_C_FLAGS=${flags}
  -D CMAKE_Fortran_FLAGS=${flags} -D CMAKE_PREFIX_PATH=${prefix} -D CONSUMERS=${CONSUMERS})
step(${CMAKE_COMMAND} --build ${consumer_build})
step(${consumer_build}/consumer)
step(${consumer_build}/c_consumer)
if(EXISTS ${consumer_build}/fortran_consumer)
  step(${consumer_build}/fortran_consumer)
endif()

# A project in C alone cannot link the libraries, and is told why.
file(WRITE ${SCRATCH}/c_alone/CMakeLists.txt
  "cmake_minimum_required(VERSION 3.24)\nproject(c_alone LANGUAGES C)\nfind_package(stencil_tune REQUIRED)\n")
execute_process(COMMAND ${CMAKE_COMMAND} -S ${SCRATCH}/c_alone -B ${SCRATCH}/c_alone/build -G ${GENERATOR}
  -D CMAKE_PREFIX_PATH=${prefix} RESULT_VARIABLE failed OUTPUT_QUIET ERROR_VARIABLE said)
if(NOT failed OR NOT said MATCHES "CXX")
  message(FATAL_ERROR "a project in C alone was not told to add CXX to its languages: ${said}")
endif()

step(${prefix}/bin/stencil-tune --version)
