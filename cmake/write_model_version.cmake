# Writes OUTPUT, a C++ source with a digest of FILES, those that predictions follow from.
string(REPLACE "|" ";" files "${FILES}")
set(digests "")
foreach(file IN LISTS files)
  file(SHA256 "${file}" digest)
  string(APPEND digests ${digest})
endforeach()
string(SHA256 digest "${digests}")
string(SUBSTRING ${digest} 0 12 digest)
file(WRITE "${OUTPUT}" "#include \"runtime/model/model_version.hpp\"\n
const char* stencil_tune::model_version() noexcept { return \"model ${digest}\"; }\n")
