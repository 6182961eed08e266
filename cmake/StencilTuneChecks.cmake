# Checks that are no tests: `format`, `format-check` and `tidy`.
file(GLOB_RECURSE checked_files CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
  generator/*.[ch]pp db/*.[ch]pp runtime/*.[ch]pp distributed/*.[ch]pp tuner/*.[ch]pp tests/*.[ch]pp examples/*.[ch]pp bench/*.[ch]pp)

find_program(STENCIL_TUNE_CLANG_FORMAT NAMES clang-format clang-format-14)
mark_as_advanced(STENCIL_TUNE_CLANG_FORMAT)
if(STENCIL_TUNE_CLANG_FORMAT)
  add_custom_target(format COMMAND ${STENCIL_TUNE_CLANG_FORMAT} -i ${checked_files}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} VERBATIM)
  add_custom_target(format-check COMMAND ${STENCIL_TUNE_CLANG_FORMAT} --dry-run --Werror ${checked_files}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} VERBATIM)
endif()

find_program(STENCIL_TUNE_RUN_CLANG_TIDY NAMES run-clang-tidy run-clang-tidy-14)
mark_as_advanced(STENCIL_TUNE_RUN_CLANG_TIDY)
if(STENCIL_TUNE_RUN_CLANG_TIDY)
  add_custom_target(tidy
    COMMAND ${STENCIL_TUNE_RUN_CLANG_TIDY} -quiet -p ${PROJECT_BINARY_DIR} "^${PROJECT_SOURCE_DIR}/(generator|db|runtime|distributed|tuner)/"
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} USES_TERMINAL VERBATIM)
endif()
