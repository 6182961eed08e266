// Whether a winner is stale once its template's text has changed: its machine code decides.
#include "runtime/library/lookup/same_machine_code.hpp"

#include "db/stored_code.hpp"
#include "generator/kernel_source/signature.hpp"
#include "runtime/compile/machine_code.hpp"
#include "stencil_tune/error.hpp"
#include "tests/runtime/compile/compiler_if_there.hpp"

#include <gtest/gtest.h>

namespace stencil_tune {
namespace {

constexpr const char* kCode = "streaming.bx32.by4.cz8.regs";

Problem a_problem() { return make_problem(make_builtin(Shape::star, 3, 1), ElementType::f32, {}, {3, {64, 64, 64}}); }

KernelSource renamed(KernelSource source, std::string_view from, std::string_view to) {
  const std::size_t at = source.text.find(from);
  EXPECT_NE(at, std::string::npos) << source.text;
  source.text.replace(at, from.size(), to);
  return source;
}

class SameMachineCode : public ::testing::Test {
 protected:
  SameMachineCode() {
    if (!compiler_) return;
    trial_.code = kCode;
    trial_.platform = {"NVIDIA H200", "sm_90", "13.0", compiler_->version(), "of an older text"};
    trial_.machine_code = machine_code(compiler_->compile(source_, "sm_90").cubin);
  }

  void SetUp() override {
    if (!compiler_) GTEST_SKIP() << "no NVRTC here";
  }

  bool renew() { return renew_signature(trial_, problem_, compiler_if_there); }

  std::unique_ptr<Compiler> compiler_ = compiler_if_there();
  Problem problem_ = a_problem();
  KernelSource source_ = generate({problem_, parse_code(kCode)});
  TrialRecord trial_;
};

TEST_F(SameMachineCode, AWinnerThatCompilesToWhatWasTimedIsFresh) {
  EXPECT_TRUE(is_stale(trial_));
  EXPECT_TRUE(renew());
  EXPECT_FALSE(is_stale(trial_));
  EXPECT_EQ(trial_.platform.template_signature, template_signature(parse_code(kCode)));
}

TEST_F(SameMachineCode, OtherMachineCodeStaysStale) {
  trial_.machine_code.front() = trial_.machine_code.front() == '0' ? '1' : '0';
  EXPECT_FALSE(renew());
  EXPECT_TRUE(is_stale(trial_));
}

TEST_F(SameMachineCode, AnotherCompilerTellsNothing) {
  trial_.platform.nvrtc = "12.0";
  EXPECT_FALSE(renew());
  trial_.platform.nvrtc = compiler_->version();
  trial_.machine_code.clear();
  EXPECT_FALSE(renew());
  EXPECT_TRUE(is_stale(trial_));
}

TEST_F(SameMachineCode, WithoutACompilerItStaysStale) {
  EXPECT_FALSE(renew_signature(
      trial_, problem_, []() -> std::unique_ptr<Compiler> { throw Error(ErrorCode::missing_library, "no NVRTC"); }));
  EXPECT_TRUE(is_stale(trial_));
}

TEST_F(SameMachineCode, NamesAndCommentsChangeNoMachineCodeAndNumbersDo) {
  const auto code_of = [&](const KernelSource& source) {
    return machine_code(compiler_->compile(source, "sm_90").cubin);
  };
  EXPECT_EQ(code_of(renamed(source_, "struct Stencil", "/* a comment */ struct Stencil")), trial_.machine_code);
  EXPECT_NE(code_of(generate({problem_, parse_code("streaming.bx32.by4.cz16.regs")})), trial_.machine_code);
}

TEST(MachineCode, BytesThatAreNoCubinHaveNone) {
  EXPECT_EQ(machine_code({}), "");
  EXPECT_EQ(machine_code(std::vector<std::byte>(1000, std::byte{7})), "");
  std::vector<std::byte> cut(64, std::byte{0});
  for (std::size_t i = 0; i < 5; ++i)
    cut[i] = static_cast<std::byte>(
        "\x7f"
        "ELF\x02"[i]);
  cut[58] = std::byte{64};
  cut[60] = std::byte{200};
  EXPECT_EQ(machine_code(cut), "");
}

}  // namespace
}  // namespace stencil_tune
