#include "generator/user_kernel/configuration.hpp"

#include "stencil_tune/error.hpp"
#include "tests/generator/user_kernel/definitions.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <set>

namespace stencil_tune {
namespace {

using testing::kSaxpy;
using testing::replaced;

UserKernel parse(const std::string& text) { return parse_user_kernel(text, "saxpy.cu").kernel; }

std::string message_of(const std::function<void()>& function) {
  try {
    function();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was rejected";
  return "";
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

class Configurations : public ::testing::Test {
 protected:
  UserKernel kernel = parse(std::string(kSaxpy));
};

TEST_F(Configurations, AllThatKeepTheRulesAreFoundOnce) {
  std::set<std::string> codes;
  for (const ParameterValues& values : legal_configurations(kernel)) {
    codes.insert(configuration_code(kernel, values));
    EXPECT_LE(values[0] * values[1], 256);
  }
  EXPECT_EQ(codes.size(), 8u) << "of 9, one has 512 cells a block";
  EXPECT_TRUE(codes.contains("BLOCK=128,ITEMS=2"));
  EXPECT_FALSE(codes.contains("BLOCK=128,ITEMS=4"));
}

TEST_F(Configurations, CodesParseBack) {
  for (const ParameterValues& values : legal_configurations(kernel)) {
    const std::string code = configuration_code(kernel, values);
    EXPECT_EQ(parse_configuration(kernel, code), values);
    EXPECT_TRUE(is_configuration_code(code));
  }
  for (const char* other : {"", "BLOCK", "BLOCK=64", "BLOCK=64,ITEMS=3", "ITEMS=1,BLOCK=64", "BLOCK=64,ITEMS=1,X=1",
                            "BLOCK=64,ITEMS=1x", "direct.bx32"}) {
    EXPECT_THROW(parse_configuration(kernel, other), Error) << other;
  }
  EXPECT_FALSE(is_configuration_code("direct.bx32.by4"));
  EXPECT_TRUE(contains(message_of([&] { parse_configuration(kernel, "BLOCKS=64,ITEMS=1"); }), "did you mean 'BLOCK'?"));
}

TEST_F(Configurations, TheBrokenRuleIsNamed) {
  EXPECT_EQ(broken_rule(kernel, {128, 4})->rule, "at most 256 cells a block");
  EXPECT_FALSE(broken_rule(kernel, {64, 4}));
  const UserKernel wide = parse(replaced(kSaxpy, "block = [\"BLOCK\"]", "block = [\"BLOCK\", \"16\"]"));
  EXPECT_EQ(broken_rule(wide, {128, 1})->rule, "block");
  EXPECT_TRUE(contains(broken_rule(wide, {128, 1})->message, "2048 threads; 1024 can be"));
}

TEST_F(Configurations, RulesThatLeaveNothingAreSaid) {
  const UserKernel none = parse(replaced(kSaxpy, "BLOCK * ITEMS <= 256", "BLOCK * ITEMS <= 16"));
  EXPECT_TRUE(contains(message_of([&] { legal_configurations(none); }),
                       "no configuration of saxpy keeps all rules with n=1000; what most break is 'at most 256"));
  UserKernel empty = kernel;
  empty.sizes[0].value = 0;
  EXPECT_TRUE(contains(message_of([&] { legal_configurations(empty); }), "'grid' (0 blocks along x"));
}

TEST_F(Configurations, TheDefaultIsTheDefinitionsElseTheFirst) {
  EXPECT_EQ(default_configuration(kernel).values, (ParameterValues{32, 1}));
  EXPECT_FALSE(default_configuration(kernel).is_defined);
  UserKernel own = parse(replaced(kSaxpy, "[rules]", "[default]\nITEMS = \"n / 500\"\nBLOCK = 128\n[rules]"));
  EXPECT_EQ(user_kernel_key(own), user_kernel_key(kernel)) << "where a search begins is not what the kernel is";
  EXPECT_EQ(default_configuration(own).values, (ParameterValues{128, 2}));
  EXPECT_TRUE(default_configuration(own).is_defined);
  EXPECT_EQ(default_configuration(own).objection, "");
  for (const auto& [n, why] : {std::pair{2000, "the default BLOCK=128,ITEMS=4 breaks 'at most 256 cells a block'"},
                               {1500, "ITEMS is one of 1, 2, 4"}}) {
    own.sizes[0].value = n;
    EXPECT_EQ(default_configuration(own).values, (ParameterValues{32, 1}));
    EXPECT_TRUE(contains(default_configuration(own).objection, why)) << default_configuration(own).objection;
  }
}

TEST_F(Configurations, ALaunchFollowsFromSizesAndParameters) {
  const LaunchGeometry launch = launch_of(kernel, {64, 2});
  EXPECT_EQ(launch.block, (std::array<unsigned, 3>{64, 1, 1}));
  EXPECT_EQ(launch.grid, (std::array<unsigned, 3>{8, 1, 1}));
  EXPECT_EQ(reference_launch(kernel).grid[0], 8u);
}

TEST_F(Configurations, ParametersReachTheSourceAsConstants) {
  const KernelSource source = user_source(kernel, {64, 2});
  EXPECT_TRUE(source.text.starts_with("#define BLOCK 64\n#define ITEMS 2\n#line 1 \"saxpy.cu\"\n// A kernel"));
  EXPECT_EQ(source.entry, "saxpy");
  EXPECT_TRUE(source.is_own);
}

TEST_F(Configurations, SymbolsAreKeptInTheBinary) {
  const UserKernel weighted = parse(std::string(testing::kWeighted));
  EXPECT_TRUE(
      contains(user_source(weighted, {32}).text, "stencil_tune_keep_weights(const void** to) { *to = &weights; }"));
  EXPECT_FALSE(contains(user_source(kernel, {64, 2}).text, "stencil_tune_keep"));
  const UserKernel both = parse(replaced(testing::kWeighted, "symbol = true", "symbol = \"weights\""));
  EXPECT_NE(user_kernel_key(both), user_kernel_key(weighted)) << "a parameter more";
  UserKernel apart = both;
  apart.reference_source = "__global__ void weighted_naive() {}";
  EXPECT_FALSE(contains(reference_source(apart, {32}).text, "stencil_tune_keep")) << "it gets a parameter";
}

TEST_F(Configurations, LengthsThatCannotBeAreSaid) {
  const auto rejected = [](const std::string& length) {
    const UserKernel other = parse(replaced(kSaxpy, "length = \"n\"", "length = \"" + length + "\""));
    return message_of([&] { cells_of(other, other.arguments[0]); });
  };
  EXPECT_TRUE(contains(rejected("n - 1001"), "the length of 'y' is n - 1001 = -1 cells with n=1000"));
  EXPECT_TRUE(contains(rejected("n ^ 6"), "that is too many"));
  EXPECT_TRUE(contains(rejected("n ^ 9"), "does not fit 64 bits"));
}

TEST_F(Configurations, AnotherKernelHasAnotherKey) {
  const std::string key = user_kernel_key(kernel);
  EXPECT_EQ(key.size(), 32u);
  const auto key_with = [&](std::string_view from, std::string_view to) {
    return user_kernel_key(parse(replaced(kSaxpy, from, to)));
  };
  EXPECT_EQ(key_with("// A kernel to test with.", "// Another remark."), key);
  EXPECT_EQ(key_with("n = 1000", "n = 2000"), key);
  EXPECT_EQ(key_with("[1, 2, 4]", "[1, 2, 4, 8]"), key);
  EXPECT_EQ(key_with("<= 256", "<= 128"), key);
  EXPECT_NE(key_with("a * x[i] + y[i];\n  }", "y[i] + a * x[i];\n  }"), key);
  EXPECT_NE(key_with("value = 0.5", "value = 0.25"), key);
  EXPECT_NE(key_with("tolerance = 1e-6", "tolerance = 1e-5"), key);
  EXPECT_NE(key_with("\"2 * n\"", "\"n\""), key);
}

TEST(LegalConfigurations, RulesPruneSpacesThatNobodyCouldEnumerate) {
  std::string parameters, rules;
  for (int i = 0; i < 12; ++i) {
    parameters += "P" + std::to_string(i) + " = [0, 1, 2, 3, 4, 5, 6, 7]\n";
    if (i > 0)
      rules += "\"r" + std::to_string(i) + "\" = \"P" + std::to_string(i) + " == P" + std::to_string(i - 1) + "\"\n";
  }
  const std::string text =
      replaced(replaced(kSaxpy, "ITEMS = [1, 2, 4]\n", "ITEMS = [1]\n" + parameters), "[rules]\n", "[rules]\n" + rules);
  EXPECT_EQ(legal_configurations(parse(text)).size(), 3u * 8u);
}

}  // namespace
}  // namespace stencil_tune
