// Exported files check themselves: what main says of right kernels and of broken ones.
#include "tests/runtime/export/exported_program.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <ostream>
#include <string>

namespace stencil_tune {
namespace {

class ExportedPrograms : public testing::TestWithParam<ExportCase> {};

TEST_P(ExportedPrograms, FindThemselvesRight) {
  const ProgramResult result = run({GetParam()});
  EXPECT_EQ(result.status, 0) << result.said;
  EXPECT_EQ(result.fault, "");
  EXPECT_NE(result.said.find("self-check of exported, "), std::string::npos) << result.said;
  EXPECT_EQ(result.said.find("self-check of exported_advance, ") != std::string::npos,
            GetParam().single_steps.has_value());
  EXPECT_NE(result.said.find("128 x 128 x "), std::string::npos) << "the benchmark: " << result.said;
}

INSTANTIATE_TEST_SUITE_P(Each, ExportedPrograms, testing::ValuesIn(export_cases()),
                         [](const auto& test) { return test.param.name; });

/// Every one of them, of which there must be some.
std::string replaced(std::string text, const std::string& what, const std::string& replacement) {
  std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  for (; at != std::string::npos; at = text.find(what, at + replacement.size())) {
    text.replace(at, what.size(), replacement);
  }
  return text;
}

struct Break {
  const char* name;
  bool of_kernels;  ///< else of launchers and NAME_advance
  const char *what, *replacement;
  bool launch_is_right, advance_is_right;
};

std::ostream& operator<<(std::ostream& out, const Break& each) { return out << each.name; }

class BrokenExports : public testing::TestWithParam<Break> {};

TEST_P(BrokenExports, FindThemselvesWrong) {
  const Break& broken = GetParam();
  ExportedProgram exported{driven_wave()};
  const auto change = [&](const std::string& text) { return replaced(text, broken.what, broken.replacement); };
  (broken.of_kernels ? exported.change_kernels : exported.change_others) = change;
  const ProgramResult result = run(exported);
  EXPECT_EQ(result.status, 1) << result.said;
  EXPECT_EQ(result.fault, "");
  const auto verdict = [](bool right) { return std::string(right ? ": right" : ": WRONG"); };
  EXPECT_NE(result.said.find("exported, 3 steps on 69 x 23 x 1" + verdict(broken.launch_is_right)), std::string::npos)
      << result.said;
  EXPECT_NE(result.said.find("exported_advance, 7 steps on 69 x 23 x 1" + verdict(broken.advance_is_right)),
            std::string::npos)
      << result.said;
  EXPECT_EQ(result.said.find("GStencil/s"), std::string::npos) << "what is wrong is not timed";
}

INSTANTIATE_TEST_SUITE_P(Each, BrokenExports,
                         testing::Values(Break{"a_tap", true, "u(0, 2, 0, 0)", "u(0, 1, 0, 0)", false, false},
                                         Break{"the_step_number", false, "first_step += 3;", "", true, false},
                                         Break{"the_rotation_of_buffers", false, "before[kNext[i]]", "before[i]", true,
                                               false}),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace stencil_tune
