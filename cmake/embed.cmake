# stencil_tune_embed(OUTPUT FUNCTION TYPE_HEADER PREFIX files...)
#
# Writes a .cpp that defines `std::span<const TemplateFile> stencil_tune::FUNCTION()`: each file's text under the name
# PREFIX/<file name>. Run again whenever one of the files changes.
set(STENCIL_TUNE_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/embed_files.cmake)

function(stencil_tune_embed output function header prefix)
  set(files)
  foreach(file IN LISTS ARGN)
    get_filename_component(path ${file} ABSOLUTE)
    list(APPEND files ${path})
  endforeach()
  list(JOIN files "|" joined)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DFUNCTION=${function} -DHEADER=${header} -DPREFIX=${prefix}
            "-DFILES=${joined}" -P ${STENCIL_TUNE_EMBED_SCRIPT}
    DEPENDS ${files} ${STENCIL_TUNE_EMBED_SCRIPT}
    VERBATIM)
endfunction()
