#include "stencil_tune/library.hpp"
#include "tests/runtime/expect_error.hpp"

namespace stencil_tune {
namespace {

TEST(LoadStencil, TakesBuiltinsAndNamesWhatIsMissing) {
  EXPECT_EQ(load_stencil("star2d1r").rank, 2);
  EXPECT_ERROR(load_stencil("heat4d"), ErrorCode::unknown_name, "heat");
  EXPECT_ERROR(load_stencil("/no/such/file.toml"), ErrorCode::file_io, "/no/such/file.toml");
}

}  // namespace
}  // namespace stencil_tune
