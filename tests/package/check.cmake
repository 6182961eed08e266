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
set(fortran_flags)
set(with_fortran TRUE)
if(SANITIZE)
  set(flags -fsanitize=address,undefined)
  if(COMPILER MATCHES "clang") # gfortran would link GCC's sanitizers beside Clang's
    set(with_fortran FALSE)
    set(c_links -fsanitize-link-c++-runtime) # Clang's C driver leaves it out
  else()
    set(fortran_flags ${flags})
  endif()
endif()
step(${CMAKE_COMMAND} -S ${CONSUMER} -B ${consumer_build} -G ${GENERATOR}
  -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_C_COMPILER=${C_COMPILER} -D CMAKE_CXX_FLAGS=${flags} -D CMAKE_C_FLAGS=${flags}
  -D CMAKE_Fortran_FLAGS=${fortran_flags} -D CMAKE_PREFIX_PATH=${prefix} -D CONSUMERS=${CONSUMERS}
  -D stencil_tune_INCLUDE=${prefix}/include)
step(${CMAKE_COMMAND} --build ${consumer_build})
step(${consumer_build}/consumer)
step(${consumer_build}/c_consumer)
if(EXISTS ${consumer_build}/fortran_consumer)
  step(${consumer_build}/fortran_consumer)
endif()

# Everything that an installation has beyond that, and what its pages link to.
foreach(file IN ITEMS README.md docs/tutorial.md corpus/heat3d.toml examples/tutorial/tutorial.cpp)
  if(NOT EXISTS ${prefix}/share/doc/stencil_tune/${file})
    message(FATAL_ERROR "${file} is not installed")
  endif()
endforeach()
foreach(file IN ITEMS man/man1/stencil-tune.1 bash-completion/completions/stencil-tune
        zsh/site-functions/_stencil-tune fish/vendor_completions.d/stencil-tune.fish)
  if(NOT EXISTS ${prefix}/share/${file})
    message(FATAL_ERROR "share/${file} is not installed")
  endif()
endforeach()
step(${PYTHON} -B ${SOURCE}/tests/docs/check_links.py ${prefix}/share/doc/stencil_tune)

step(${PYTHON} -B ${SOURCE}/tests/package/recipes_test.py ${prefix})

# The examples that were installed, on their own.
set(examples ${prefix}/share/doc/stencil_tune/examples)
file(REMOVE_RECURSE ${SCRATCH}/examples)
step(${CMAKE_COMMAND} -S ${examples} -B ${SCRATCH}/examples -G ${GENERATOR} -D CMAKE_CXX_COMPILER=${COMPILER}
  -D CMAKE_C_COMPILER=${C_COMPILER} -D CMAKE_CXX_FLAGS=${flags} -D CMAKE_C_FLAGS=${flags}
  -D CMAKE_Fortran_FLAGS=${fortran_flags} -D CMAKE_PREFIX_PATH=${prefix})
step(${CMAKE_COMMAND} --build ${SCRATCH}/examples --target example_tutorial example_c_heat)

# As docs/recipes.md says, by pkg-config alone. 77: there is no GPU.
find_program(pkg_config pkg-config REQUIRED)
file(GLOB_RECURSE package_file ${prefix}/stencil_tune.pc)
get_filename_component(package_folder ${package_file} DIRECTORY)
function(by_pkg_config name compile)
  set(command "${compile} ${flags} $(pkg-config --libs stencil_tune) -o ${SCRATCH}/${name}")
  step(${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${package_folder} sh -c "cd ${SCRATCH} && ${command}")
  execute_process(COMMAND ${SCRATCH}/${name} ${ARGN} COMMAND_ECHO STDOUT RESULT_VARIABLE status)
  if(NOT status EQUAL 0 AND NOT status EQUAL 77)
    message(FATAL_ERROR "${name}, built by pkg-config, ended with ${status}")
  endif()
endfunction()
by_pkg_config(tutorial "${COMPILER} -std=c++20 $(pkg-config --cflags stencil_tune) ${examples}/tutorial/tutorial.cpp"
  ${examples}/tutorial/heat.toml 32 10)
by_pkg_config(cxx17 "${COMPILER} -std=c++17 $(pkg-config --cflags stencil_tune) ${CONSUMER}/main.cpp")
by_pkg_config(c_heat "${C_COMPILER} ${c_links} -std=c99 $(pkg-config --cflags stencil_tune) ${examples}/c/heat.c" 32 10)
find_program(fortran gfortran)
if(fortran AND with_fortran)
  by_pkg_config(fortran_heat
    "gfortran $(pkg-config --variable=fortran_module stencil_tune) ${examples}/fortran/heat.f90" 32 10)
endif()

# A project in C alone links the shared library.
file(GLOB shared ${prefix}/lib*/libstencil_tune.so.*.*.*)
file(REMOVE_RECURSE ${SCRATCH}/c_alone)
file(WRITE ${SCRATCH}/c_alone/CMakeLists.txt
  "cmake_minimum_required(VERSION 3.24)\nproject(c_alone LANGUAGES C)\nfind_package(stencil_tune REQUIRED)\n"
  "add_executable(c_alone ${CONSUMERS}/consumer.c)\ntarget_link_libraries(c_alone PRIVATE stencil_tune::c m)\n")
set(configure_c_alone ${CMAKE_COMMAND} -S ${SCRATCH}/c_alone -B ${SCRATCH}/c_alone/build -G ${GENERATOR}
  -D CMAKE_PREFIX_PATH=${prefix} -D CMAKE_C_FLAGS=${flags})
if(shared AND NOT SANITIZE)
  step(${configure_c_alone})
  step(${CMAKE_COMMAND} --build ${SCRATCH}/c_alone/build)
  step(${SCRATCH}/c_alone/build/c_alone)
  step(${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${package_folder} sh -c
    "cc ${CONSUMERS}/consumer.c $(pkg-config --cflags --libs stencil_tune-c) -lm -o ${SCRATCH}/c_alone/by_pkg_config")
  get_filename_component(library_folder ${shared} DIRECTORY)
  step(${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${library_folder} ${SCRATCH}/c_alone/by_pkg_config)
endif()

# It cannot link the archives, and is told why.
file(GLOB package_of_c ${prefix}/lib*/cmake/stencil_tune/stencil_tune-c-targets*.cmake)
if(package_of_c)
  file(REMOVE ${package_of_c})
endif()
file(REMOVE_RECURSE ${SCRATCH}/c_alone/build)
execute_process(COMMAND ${configure_c_alone} RESULT_VARIABLE failed OUTPUT_QUIET ERROR_VARIABLE said)
if(NOT failed OR NOT said MATCHES "CXX" OR NOT said MATCHES "BUILD_SHARED_LIBS")
  message(FATAL_ERROR "a project in C alone was not told what it can do: ${said}")
endif()

step(${prefix}/bin/stencil-tune --version)
