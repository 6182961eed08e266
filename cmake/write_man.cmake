# Writes OUTPUT, the manual page, from INPUT and the help of PROGRAM: the page cannot say other than the program.
function(help_of result)
  execute_process(COMMAND ${PROGRAM} help ${ARGN} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

# As troff prints it unchanged.
function(escape result text)
  string(REPLACE "\\" "\\e" text "${text}")
  string(REPLACE "-" "\\-" text "${text}")
  string(REGEX REPLACE "(^|\n)([.'])" "\\1\\\\&\\2" text "${text}")
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

help_of(overview)
string(REGEX REPLACE ".*\nverbs:\n(.*)" "\\1" verbs "${overview}")
string(FIND "${verbs}" "\n\n" end)
string(SUBSTRING "${verbs}" 0 ${end} verbs)
string(REGEX MATCHALL "(^|\n)  [a-z]+" verbs "${verbs}")

set(COMMANDS "")
foreach(verb IN LISTS verbs)
  string(STRIP "${verb}" verb)
  help_of(text ${verb})
  escape(text "${text}")
  string(APPEND COMMANDS ".SS ${verb}\n.nf\n${text}.fi\n")
endforeach()
string(STRIP "${COMMANDS}" COMMANDS)
configure_file(${INPUT} ${OUTPUT} @ONLY)
