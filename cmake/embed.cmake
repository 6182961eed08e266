# stencil_tune_embed(OUTPUT FUNCTION TYPE_HEADER PREFIX [BASE folder] files...)
#
# Writes a .cpp that defines `std::span<const TemplateFile> stencil_tune::FUNCTION()`: each file's text under the name
# PREFIX/<path below BASE>, or PREFIX/<file name> without a BASE. Run again whenever one of the files changes.
set(STENCIL_TUNE_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/embed_files.cmake)

function(stencil_tune_embed output function header prefix)
  cmake_parse_arguments(PARSE_ARGV 4 arg "" "BASE" "")
  set(files)
  foreach(file IN LISTS arg_UNPARSED_ARGUMENTS)
    get_filename_component(path ${file} ABSOLUTE)
    list(APPEND files ${path})
  endforeach()
  list(JOIN files "|" joined)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DFUNCTION=${function} -DHEADER=${header} -DPREFIX=${prefix}
            -DBASE=${arg_BASE}
            "-DFILES=${joined}" -P ${STENCIL_TUNE_EMBED_SCRIPT}
    DEPENDS ${files} ${STENCIL_TUNE_EMBED_SCRIPT}
    VERBATIM)
  set_source_files_properties(${output} PROPERTIES COMPILE_OPTIONS -Wno-overlength-strings) # a text is one literal
endfunction()
