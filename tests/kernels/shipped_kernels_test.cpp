// The kernels of kernels/: their definitions parse, leave candidates, have the textbook's kernel among them, and
// compile. STENCIL_TUNE_CASES: how many combinations of each are drawn to be compiled; scripts/check-long kernels takes
// many.
#include "generator/user_kernel/configuration.hpp"
#include "runtime/compile/compiler.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <ostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace stencil_tune {
namespace {

struct Shipped {
  const char* name;
  WholeValues textbook;  ///< the candidate that is the textbook's kernel
};

std::ostream& operator<<(std::ostream& out, const Shipped& shipped) { return out << shipped.name; }

const Shipped kShipped[] = {
    {"convolution1d", {{"RADIUS", 8}, {"BLOCK", 256}, {"CELLS", 1}, {"SHARED", 0}, {"MASK", 0}}},
    {"convolution2d",
     {{"RADIUS", 3}, {"BLOCK_X", 16}, {"BLOCK_Y", 16}, {"CELLS_X", 1}, {"CELLS_Y", 1}, {"SHARED", 0}, {"MASK", 0}}},
    {"histogram", {{"BLOCK", 256}, {"BLOCKS", 2112}, {"VECTOR", 1}, {"PRIVATE", 0}, {"COPIES", 1}, {"AGGREGATE", 0}}},
    {"matmul",
     {{"TILED", 1},
      {"TILE_M", 16},
      {"TILE_N", 16},
      {"TILE_K", 16},
      {"ROWS", 1},
      {"COLUMNS", 1},
      {"LANES_N", 16},
      {"VECTOR", 1},
      {"STAGES", 1},
      {"GROUP", 1},
      {"BLOCKS", 1}}},
    {"reduction", {{"BLOCK", 1024}, {"BLOCKS", 2112}, {"VECTOR", 1}, {"LOADS", 1}, {"SHUFFLE", 0}}},
    {"scan", {{"BLOCK", 512}, {"CELLS", 1}, {"LOOK_BACK", 0}}},
    {"transpose", {{"SHARED", 0}, {"TILE", 16}, {"BLOCK_ROWS", 16}, {"PAD", 0}}},
};

std::string broken_rule(const UserKernel& kernel, const WholeValues& values) {
  for (const Rule& rule : kernel.rules) {
    if (rule.condition.evaluate(values) == 0) return rule.name;
  }
  return "";
}

std::int64_t product_of(const std::vector<WholeExpression>& expressions, const WholeValues& values) {
  std::int64_t product = 1;
  for (const WholeExpression& each : expressions) product *= each.evaluate(values);
  return product;
}

std::string type_of(const KernelArgument& argument) {
  static const std::map<CellType, std::string> kNames{{CellType::f32, "float"},
                                                      {CellType::i32, "int"},
                                                      {CellType::u32, "unsigned"},
                                                      {CellType::i64, "long long"},
                                                      {CellType::u64, "unsigned long long"},
                                                      {CellType::u8, "unsigned char"}};
  const std::string& type = kNames.at(argument.type);
  if (!argument.is_array) return type;
  return argument.role == Role::input ? "const " + type + "*" : type + "*";
}

/// With a #define for each parameter. The declaration gives the kernel the name that its definition has for it, and
/// holds the definition's arguments against the kernel's.
KernelSource source_of(const UserKernel& kernel, const WholeValues& values) {
  std::string text;
  for (const UserKernelParameter& parameter : kernel.parameters) {
    text += "#define " + parameter.name + ' ' + std::to_string(values.at(parameter.name)) + '\n';
  }
  std::string arguments;
  for (const KernelArgument& argument : kernel.arguments) {
    if (!argument.is_parameter) continue;
    arguments += (arguments.empty() ? "" : ", ") + type_of(argument);
  }
  text += "extern \"C\" __global__ void " + kernel.name + '(' + arguments + ");\n" + kernel.source;
  return {.text = std::move(text), .entry = kernel.name};
}

std::size_t cases() {
  const char* text = std::getenv("STENCIL_TUNE_CASES");
  return text != nullptr ? std::strtoul(text, nullptr, 10) : 2;
}

class ShippedKernel : public ::testing::TestWithParam<Shipped> {
 protected:
  /// Sizes and parameters of the textbook's candidate.
  WholeValues textbook() const {
    WholeValues values = kernel.size_values();
    for (const auto& [name, value] : GetParam().textbook) values[name] = value;
    return values;
  }

  /// Combinations drawn at random that break no rule.
  std::vector<WholeValues> drawn(const UserKernel& of) const {
    std::mt19937 random(1);
    std::vector<WholeValues> legal;
    for (int i = 0; i < 20000; ++i) {
      WholeValues values = of.size_values();
      for (const UserKernelParameter& parameter : of.parameters) {
        values[parameter.name] = parameter.values[random() % parameter.values.size()];
      }
      if (broken_rule(of, values).empty()) legal.push_back(values);
    }
    return legal;
  }

  UserKernel kernel = load_user_kernel(STENCIL_TUNE_SOURCE "/kernels/" + std::string(GetParam().name) + ".cu");
};

INSTANTIATE_TEST_SUITE_P(All, ShippedKernel, ::testing::ValuesIn(kShipped),
                         [](const auto& shipped) { return std::string(shipped.param.name); });

TEST_P(ShippedKernel, BeginsWithTheTextbooks) {
  EXPECT_EQ(GetParam().textbook.size(), kernel.parameters.size());
  EXPECT_EQ(broken_rule(kernel, textbook()), "");
  const DefaultConfiguration begin = default_configuration(kernel);
  EXPECT_TRUE(begin.is_defined);
  EXPECT_EQ(begin.objection, "");
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const std::string& name = kernel.parameters[i].name;
    ASSERT_TRUE(GetParam().textbook.contains(name)) << name;
    EXPECT_EQ(begin.values.at(i), GetParam().textbook.find(name)->second) << name;
  }
}

TEST_P(ShippedKernel, LaunchesWholeWarpsOfAtMost1024Threads) {
  const auto candidates = drawn(kernel);
  ASSERT_GT(candidates.size(), 5U);
  for (const WholeValues& values : candidates) {
    const std::int64_t threads = product_of(kernel.launch.block, values);
    EXPECT_LE(threads, 1024);
    EXPECT_EQ(threads % 32, 0) << "shuffles of a whole warp";
    EXPECT_GE(product_of(kernel.launch.grid, values), 1);
  }
}

TEST_P(ShippedKernel, CompilesForBothArchitectures) {
  std::unique_ptr<Compiler> compiler;
  try {
    compiler = open_nvrtc();
  } catch (const Error&) {
    GTEST_SKIP() << "no NVRTC here";
  }
  auto candidates = drawn(kernel);
  candidates.resize(std::min(candidates.size(), cases()));
  candidates.push_back(textbook());
  for (const WholeValues& values : candidates) {
    for (const char* architecture : {"sm_80", "sm_90"}) {
      const KernelResources resources = compiler->compile(source_of(kernel, values), architecture).resources;
      EXPECT_GT(resources.registers, 0);
      EXPECT_LE(resources.static_shared, 48 << 10);
    }
  }
}

TEST_P(ShippedKernel, IsOneBlockAtSizesOfOne) {
  std::vector<std::string> ones;
  for (const UserKernelSize& size : kernel.sizes) {
    if (size.name != "radius") ones.push_back(size.name + "=1");
  }
  set_sizes(kernel, ones);
  const auto candidates = drawn(kernel);
  ASSERT_FALSE(candidates.empty());
  for (const WholeValues& values : candidates) EXPECT_EQ(product_of(kernel.launch.grid, values), 1);
  for (const KernelArgument& argument : kernel.arguments) {
    if (!argument.is_array) continue;
    EXPECT_GE(argument.length.evaluate(kernel.size_values()), 1) << argument.name;
  }
}

TEST_P(ShippedKernel, WhatItKeepsBetweenLaunchesIsZerosAndCompared) {
  int outputs = 0;
  for (const KernelArgument& argument : kernel.arguments) {
    outputs += argument.role == Role::output;
    if (argument.role != Role::inout) continue;
    EXPECT_EQ(argument.fill, Fill::zeros) << argument.name;
  }
  EXPECT_EQ(outputs, 1);
}

// ---- what the tutorial of convolutions says of reads

/// Cells that `outputs` threads in a row read with 2 * radius + 1 weights each, of those from `begin` to before `end`.
double reads_one_by_one(int outputs, int radius, int begin, int end) {
  int reads = 0;
  for (int output = 0; output < outputs; ++output) {
    for (int cell = output - radius; cell <= output + radius; ++cell) reads += cell >= begin && cell < end;
  }
  return reads;
}

/// Each cell in reach once.
double reads_of_tile(int outputs, int radius, int begin, int end) {
  int reads = 0;
  for (int cell = -radius; cell < outputs + radius; ++cell) reads += cell >= begin && cell < end;
  return reads;
}

TEST(TutorialOfConvolutions, SaysHowManyTimesFewerCellsATileReads) {
  std::ifstream file(STENCIL_TUNE_SOURCE "/docs/tutorial-convolution.md");
  const std::string page(std::istreambuf_iterator<char>(file), {});
  constexpr int kFar = 1000;
  for (const int width : {5, 9}) {
    std::string row = fmt::format("| {0} x {0} |", width);
    for (const int tile : {8, 16, 32, 64}) {
      const double along = reads_one_by_one(tile, width / 2, -kFar, kFar) / reads_of_tile(tile, width / 2, -kFar, kFar);
      row += fmt::format(" {:.1f} |", std::round(10 * along * along) / 10);
    }
    EXPECT_NE(page.find(row), std::string::npos) << row;
  }
  const auto fewer = [](int begin) { return reads_one_by_one(32, 5, begin, kFar) / reads_of_tile(32, 5, begin, kFar); };
  const std::string within = fmt::format("that is {:.2f} times fewer, not 11", fewer(-kFar));
  const std::string at_an_end = fmt::format("(b + n), {:.2f} times fewer", fewer(0));
  EXPECT_NE(page.find(within), std::string::npos) << within;
  EXPECT_NE(page.find(at_an_end), std::string::npos) << at_an_end;
}

}  // namespace
}  // namespace stencil_tune
