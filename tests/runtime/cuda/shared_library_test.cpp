#include "runtime/cuda/shared_library.hpp"

#include "tests/runtime/expect_error.hpp"

namespace stencil_tune {
namespace {

TEST(SharedLibrary, FindsFunctionsOfALibraryOpenedByItsSoname) {
  const auto library = SharedLibrary::open("libm.so.6");
  ASSERT_TRUE(library);
  double (*cosine)(double) = nullptr;
  library->require(cosine, "cos");
  EXPECT_EQ(cosine(0.0), 1.0);
  EXPECT_TRUE(library->path().is_absolute()) << library->path();
}

TEST(SharedLibrary, SaysWhyALibraryCannotBeOpened) {
  std::string why;
  EXPECT_FALSE(SharedLibrary::open("libno-such-thing.so.7", &why));
  EXPECT_NE(why.find("libno-such-thing.so.7"), std::string::npos) << why;
}

TEST(SharedLibrary, NamesTheMissingFunction) {
  const auto library = SharedLibrary::open("libm.so.6");
  ASSERT_TRUE(library);
  void (*function)() = nullptr;
  EXPECT_ERROR(library->require(function, "no_such_function"), ErrorCode::missing_library, "no_such_function");
}

}  // namespace
}  // namespace stencil_tune
