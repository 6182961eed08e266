#include "stencil_tune/library.hpp"
#include "tests/runtime/expect_error.hpp"
#include "tests/runtime/temporary_folder.hpp"

#include <fstream>
#include <string>

namespace stencil_tune {
namespace {

TEST(LoadStencil, TakesBuiltinsAndNamesWhatIsMissing) {
  EXPECT_EQ(load_stencil("star2d1r").rank, 2);
  EXPECT_ERROR(load_stencil("heat4d"), ErrorCode::unknown_name, "heat");
  EXPECT_ERROR(load_stencil("/no/such/file.toml"), ErrorCode::file_io, "/no/such/file.toml");
}

TEST(LoadStencil, ReadsNoTextUpToANullCharacterAlone) {
  using namespace std::string_literals;
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "shift.toml").string();
  const std::string text = "rank = 1\nfields = [\"u\", \"v\"]\n[update]\nv = \"u[x+1]\"\n";
  std::ofstream(file) << text;
  EXPECT_EQ(load_stencil(file).rank, 1);
  EXPECT_ERROR(load_stencil(file + "\0.toml"s), ErrorCode::file_io, "shift.toml");
  EXPECT_ERROR(load_stencil("heat3d\0"s), ErrorCode::unknown_name, "heat3d");
  EXPECT_ERROR(parse_stencil("v = u[x+1]\0 + 1"s, 1), ErrorCode::malformed_definition, "v = u[x+1]");
  EXPECT_ERROR(parse_definition(text + "\0[boundary]\nx = \"zero\"\n"s, "shift"), ErrorCode::malformed_definition,
               "shift");
}

}  // namespace
}  // namespace stencil_tune
