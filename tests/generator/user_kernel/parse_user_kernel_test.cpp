#include "generator/user_kernel/user_kernel.hpp"

#include "stencil_tune/error.hpp"
#include "tests/generator/user_kernel/definitions.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>

#include <sys/stat.h>

namespace stencil_tune {
namespace {

using testing::kSaxpy;
using testing::replaced;

std::string message_of(const std::function<void()>& function) {
  try {
    function();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was rejected";
  return "";
}

std::string error_with(std::string_view from, std::string_view to) {
  return message_of([&] { parse_user_kernel(replaced(kSaxpy, from, to), "saxpy.cu"); });
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(ParseUserKernel, ReadsAllItsParts) {
  const UserKernel kernel = parse_user_kernel(kSaxpy, "saxpy.cu").kernel;
  EXPECT_EQ(kernel.name, "saxpy");
  EXPECT_EQ(kernel.about, "y = a x + y");
  ASSERT_EQ(kernel.sizes.size(), 1u);
  EXPECT_EQ(kernel.sizes[0].value, 1000);
  ASSERT_EQ(kernel.parameters.size(), 2u);
  EXPECT_EQ(kernel.parameters[1].name, "ITEMS");
  EXPECT_EQ(kernel.parameters[1].values, (std::vector<std::int64_t>{1, 2, 4}));
  ASSERT_EQ(kernel.rules.size(), 1u);
  EXPECT_EQ(kernel.rules[0].name, "at most 256 cells a block");
  EXPECT_EQ(kernel.launch.grid.at(0).evaluate({{"n", 1000}, {"BLOCK", 64}, {"ITEMS", 2}}), 8);
  ASSERT_EQ(kernel.arguments.size(), 4u);
  EXPECT_EQ(kernel.arguments[0].role, Role::inout);
  EXPECT_EQ(kernel.arguments[1].fill, Fill::random);
  EXPECT_EQ(kernel.arguments[2].number, 0.5);
  EXPECT_FALSE(kernel.arguments[3].is_array);
  EXPECT_EQ(kernel.reference.kernel, "saxpy_naive");
  EXPECT_EQ(kernel.reference.tolerance, 1e-6);
  EXPECT_EQ(kernel.flops->evaluate(kernel.size_values()), 2000);
  EXPECT_EQ(kernel.source, kSaxpy);
}

TEST(ParseUserKernel, SaysWhereInTheSourceSomethingIsWrong) {
  EXPECT_TRUE(contains(error_with("BLOCK * ITEMS <= 256", "BLOCK * ITEM <= 256"),
                       "saxpy.cu, line 11, column 40: 'ITEM' is no size or parameter here; did you mean 'ITEMS'?\n"
                       "  \"at most 256 cells a block\" = \"BLOCK * ITEM <= 256\""));
  EXPECT_TRUE(contains(error_with("[launch]", "[lanch]"), "unknown key 'lanch'"));
  EXPECT_TRUE(contains(error_with("[launch]", "[lanch]"), "did you mean 'launch'?"));
  EXPECT_TRUE(contains(error_with("inout = true", ""), "no argument is an output"));
  EXPECT_TRUE(contains(error_with("[32, 64, 128]", "[32, 64.5]"), "a parameter's value must be a whole number"));
  EXPECT_TRUE(contains(error_with("[32, 64, 128]", "[]"), "must be a list"));
  EXPECT_TRUE(contains(error_with("[32, 64, 128]", "[32, 32]"), "stands twice"));
  EXPECT_TRUE(contains(error_with("n = 1000", "n = -1"), "a size must not be negative"));
  EXPECT_TRUE(contains(error_with("n = 1000", "min = 1"), "'min' is a function of expressions"));
  EXPECT_TRUE(contains(error_with("\"f32*\"", "\"float*\""), "'float' is no type; types are f32"));
  EXPECT_TRUE(contains(error_with("value = 0.5", ""), "'value' is missing; 'a' is passed by value"));
  EXPECT_TRUE(contains(error_with("value = \"n\"", "value = 0.5"), "0.5 is no whole number"));
  EXPECT_TRUE(contains(error_with("inout = true", "output = true\nfill = \"zeros\""), "an output is poisoned"));
  EXPECT_TRUE(contains(error_with("kernel = \"saxpy_naive\"", "kernel = \"saxpy\""), "no reference for itself"));
  EXPECT_TRUE(contains(error_with("128)\"\n", "BLOCK)\"\n"), "'BLOCK' is no size or parameter here"));
  EXPECT_TRUE(contains(error_with("tolerance = 1e-6", "tolerance = 2"), "the tolerance is a number from 0"));
  EXPECT_TRUE(contains(error_with("/* stencil-tune", "/*"), "open a comment with '/* stencil-tune' on a line"));
  EXPECT_TRUE(contains(error_with("*/\n__global__", "\n__global__"), "*/ is missing"));
}

TEST(ParseUserKernel, ADefaultHasOneOfItsValuesForEachParameter) {
  const auto rejected = [](const std::string& values) {
    return error_with("[rules]", "[default]\n" + values + "\n[rules]");
  };
  EXPECT_TRUE(contains(rejected("BLOCK = 64"), "'ITEMS' has no value in [default]"));
  EXPECT_TRUE(contains(rejected("BLOCK = 48\nITEMS = 1"), "48 is none of BLOCK's values, 32, 64, 128"));
  EXPECT_TRUE(contains(rejected("BLOCK = 64\nITEM = 1"), "did you mean 'ITEMS'?"));
  EXPECT_TRUE(contains(rejected("BLOCK = \"ITEMS\"\nITEMS = 1"), "'ITEMS' is no size or parameter here"));
}

TEST(ParseUserKernel, AnInputMayBeInConstantMemory) {
  const auto weights = [](const std::string& symbol) {
    return parse_user_kernel(replaced(testing::kWeighted, "symbol = true", symbol), "w.cu").kernel.arguments[1];
  };
  EXPECT_EQ(weights("symbol = true").symbol, "weights");
  EXPECT_FALSE(weights("symbol = true").is_parameter);
  EXPECT_EQ(weights("symbol = \"other\"").symbol, "other");
  EXPECT_TRUE(weights("symbol = \"other\"").is_parameter);
  EXPECT_EQ(weights("symbol = false").symbol, "");
  EXPECT_TRUE(contains(error_with("inout = true", "inout = true\nsymbol = true"), "a symbol is an input"));
  EXPECT_TRUE(contains(message_of([&] { weights("symbol = \"a b\""); }), "no identifier of C++"));
}

TEST(ParseUserKernel, NamesThatAreNoIdentifiersGoNowhere) {
  EXPECT_TRUE(contains(error_with("\"saxpy\"", "\"saxpy(); evil\""), "no identifier of C++"));
  EXPECT_TRUE(contains(error_with("BLOCK =", "\"A B\" ="), "no identifier of C++"));
  EXPECT_TRUE(contains(error_with("BLOCK =", "while ="), "no identifier of C++"));
}

TEST(SetSizes, TakesNamesAndTheOnlySizeWithout) {
  UserKernel kernel = parse_user_kernel(kSaxpy, "saxpy.cu").kernel;
  set_sizes(kernel, std::vector<std::string>{"n=5000000000"});
  EXPECT_EQ(kernel.sizes[0].value, 5000000000);
  set_sizes(kernel, std::vector<std::string>{"7"});
  EXPECT_EQ(kernel.sizes[0].value, 7);
  const auto rejected = [&](const std::string& setting) {
    return message_of([&] { set_sizes(kernel, std::vector<std::string>{setting}); });
  };
  EXPECT_TRUE(contains(rejected("m=3"), "'m' is no size of saxpy; its sizes are n"));
  EXPECT_TRUE(contains(rejected("n=3.5"), "'3.5' is no size"));
  EXPECT_TRUE(contains(rejected("n=-3"), "'-3' is no size"));
  EXPECT_TRUE(contains(rejected("n="), "'' is no size"));
}

class LoadUserKernel : public ::testing::Test {
 protected:
  LoadUserKernel() {
    std::string pattern = (std::filesystem::temp_directory_path() / "stencil-tune-test-XXXXXX").string();
    folder = mkdtemp(pattern.data());
  }
  ~LoadUserKernel() override { std::filesystem::remove_all(folder); }

  std::string write(const std::string& name, std::string_view text) {
    std::ofstream(folder / name) << text;
    return (folder / name).string();
  }

  std::filesystem::path folder;
};

TEST_F(LoadUserKernel, ADocumentNamesItsSource) {
  const std::size_t begin = kSaxpy.find("kernel ="), end = kSaxpy.find("*/");
  const std::string path = write("saxpy.toml", "source = \"k.cu\"\n" + std::string(kSaxpy.substr(begin, end - begin)));
  EXPECT_TRUE(contains(message_of([&] { load_user_kernel(path); }), "k.cu': No such file"));
  write("k.cu", "// the source\n");
  const UserKernel kernel = load_user_kernel(path);
  EXPECT_EQ(kernel.source, "// the source\n");
  EXPECT_EQ(kernel.file, "k.cu");
  EXPECT_EQ(kernel.name, "saxpy");
}

TEST_F(LoadUserKernel, FilesThatASourceIncludesArePartOfIt) {
  write("a.cuh", "#include \"b.cuh\"\n#include <cuda_fp16.h>\nint a;\n");
  write("b.cuh", "#include \"a.cuh\"\nint b;\n");
  const UserKernel kernel = load_user_kernel(write("s.cu", "  # include \"a.cuh\"\n" + std::string(kSaxpy)));
  EXPECT_TRUE(contains(kernel.source, "int b;\n"));
  EXPECT_TRUE(contains(kernel.source, "int a;\n"));
  EXPECT_TRUE(contains(kernel.source, "#include <cuda_fp16.h>"));
  EXPECT_TRUE(contains(kernel.source, "#line 2 \"s.cu\"\n// A kernel to test with."));
  EXPECT_FALSE(contains(kernel.source, "a.cuh\"\nint b")) << "files that include each other end";
}

TEST_F(LoadUserKernel, APipeIsRefusedAndNotWaitedFor) {
  const std::string pipe = (folder / "s.cu").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_TRUE(contains(message_of([&] { load_user_kernel(pipe); }), "s.cu': it is a pipe"));
  ASSERT_EQ(::mkfifo((folder / "definition.toml").c_str(), 0600), 0);
  EXPECT_TRUE(contains(message_of([&] { load_user_kernel(folder.string()); }), "definition.toml': it is a pipe"))
      << "a captured launch";
}

TEST_F(LoadUserKernel, SaysWhichFileIsMissing) {
  EXPECT_TRUE(contains(message_of([] { load_user_kernel("no/such.cu"); }), "cannot read 'no/such.cu'"));
  const std::string path =
      write("s.cu", replaced(kSaxpy, "kernel = \"saxpy_naive\"\nblock = 128\ngrid = \"ceil_div(n, 128)\"",
                             "library = \"libnone.so\"\nfunction = \"f\""));
  EXPECT_TRUE(contains(message_of([&] { load_user_kernel(path); }), "libnone.so'; it is looked for beside"));
}

}  // namespace
}  // namespace stencil_tune
