// Lookups on a machine without a driver, in a program that is linked as the wheel's library is.
#include "runtime/library/library_parts.hpp"
#include "tests/runtime/compile/fake_compiler.hpp"
#include "tests/runtime/expect_error.hpp"
#include "tests/runtime/fake_driver.hpp"

namespace stencil_tune {
namespace {

Request heat() { return {.stencil = find_builtin("heat3d"), .extents = {.rank = 3, .n = {64, 64, 64}}}; }

TEST(NoDriver, EveryLookupSaysSoUntilThereIsOne) {
  FakeDriver driver;
  bool is_installed = false;
  int asked = 0;
  LibraryParts parts;
  parts.driver = [&]() -> Driver& {
    ++asked;
    if (!is_installed) throw Error(ErrorCode::missing_library, "no CUDA driver");
    return driver;
  };
  parts.winners = [](const Problem&, const std::string&) { return std::vector<WinnerRecord>(); };
  std::atomic<int> compiled{0};
  parts.compiler = [&compiled] { return std::make_shared<FakeCompiler>(compiled); };
  Library library(std::make_unique<Library::Impl>(std::move(parts)));

  EXPECT_ERROR(library.lookup(heat()), ErrorCode::missing_library, "no CUDA driver");
  EXPECT_ERROR(library.lookup(heat()), ErrorCode::missing_library, "no CUDA driver");
  is_installed = true;
  EXPECT_EQ(library.lookup(heat()).device(), 0);
  library.lookup(heat());
  EXPECT_EQ(asked, 3) << "opened once";
}

}  // namespace
}  // namespace stencil_tune
