// Kernels of the user's own, verified and timed on a device made of the CPU.
#include "runtime/cuda/device_facts.hpp"
#include "stencil_tune/error.hpp"
#include "tests/generator/user_kernel/definitions.hpp"
#include "tests/tuner/measure/host_device.hpp"
#include "tuner/measure/device_bench.hpp"
#include "tuner/user_kernel/user_kernel_subject.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stencil_tune {
namespace {

using testing::kSaxpy;
using testing::replaced;

const std::string kCode = "BLOCK=64,ITEMS=2";
constexpr std::string_view kLine = "if (i < n) y[i] = a * x[i] + y[i];\n  }";  // the kernel's, not the reference's

/// A definition's bench; candidates may come from another source.
struct UserBench {
  explicit UserBench(const std::string& definition = std::string(kSaxpy))
      : subject(parse_user_kernel(definition, "saxpy.cu").kernel) {
    device.takes_packed = true;
    device.add_host_kernel(reference_source(subject.kernel(), legal_configurations(subject.kernel()).front()));
    bench.emplace(device, read_device(device, 0), subject, std::uint64_t{1});
  }

  DeviceResult run(const std::string& definition, const std::string& code = kCode) {
    return bench->run(code, compile(definition, code), {});
  }

  CompiledKernel compile(const std::string& definition, const std::string& code) {
    const UserKernel other = parse_user_kernel(definition, "saxpy.cu").kernel;
    return device.load(code, user_source(other, parse_configuration(other, code)));
  }

  UserKernelSubject subject;
  testing::HostDevice device;
  std::optional<DeviceBench> bench;
};

std::string planted(std::string_view line) { return replaced(kSaxpy, kLine, std::string(line) + "\n  }"); }

TEST(UserKernelBench, ARightConfigurationIsTimed) {
  UserBench bench;
  for (const ParameterValues& values : legal_configurations(bench.subject.kernel())) {
    const std::string code = configuration_code(bench.subject.kernel(), values);
    const DeviceResult result = bench.run(std::string(kSaxpy), code);
    EXPECT_EQ(result.outcome, Outcome::ok) << code << ": " << result.message;
    EXPECT_DOUBLE_EQ(result.timing.median_ms, bench.device.launch_ms);
  }
}

TEST(UserKernelBench, WhatIsWrongIsSaid) {
  UserBench bench;
  const auto message = [&](std::string_view line) {
    const DeviceResult result = bench.run(planted(line));
    EXPECT_EQ(result.outcome, Outcome::wrong_result) << line;
    return result.message;
  };
  EXPECT_TRUE(message("if (i < n - 1) y[i] = a * x[i] + y[i];")
                  .starts_with("1 of 1000 cells of 'y' are wrong, the "
                               "first is 999: "));
  EXPECT_TRUE(message("if (i < n) y[i] = a * x[i] + y[i] * 1.0001f;").find("cells of 'y' are wrong") !=
              std::string::npos);
  EXPECT_EQ(message("if (i <= n) y[i] = a * x[i] + (i < n ? y[i] : 0);"), "a write behind the array 'y'");
  EXPECT_EQ(message("if (i < n) y[i] = a * x[i] + y[i]; if (i == 3) y[-1] = 0;"), "a write before the array 'y'");
  EXPECT_EQ(message("if (i < n) y[i] = a * x[i] + y[i]; if (i == 3) const_cast<float*>(x)[i] = 2;"),
            "'x' was changed, which is neither output nor inout");
}

TEST(UserKernelBench, AKernelThatIsRightForOneSetOfDataAloneIsWrong) {
  UserBench bench;
  bench.device.idle_from = bench.device.launches + 1;  // computes nothing from the second launch on
  EXPECT_EQ(bench.run(std::string(kSaxpy)).outcome, Outcome::wrong_result);
}

TEST(UserKernelBench, AnOutputThatIsNeverWrittenIsWrong) {
  const auto with_output = [](std::string_view text) {
    std::string definition = replaced(text, "inout = true", "output = true");
    definition = replaced(definition, kLine, "if (i < n) y[i] = a * x[i];\n  }");
    return replaced(definition, "a * x[i] + y[i];\n}", "a * x[i];\n}");
  };
  const std::string definition = with_output(kSaxpy);
  UserBench bench(definition);
  EXPECT_EQ(bench.run(definition).outcome, Outcome::ok);
  const DeviceResult result = bench.run(replaced(definition, "if (i < n) y[i]", "if (i < n && i % 2 == 0) y[i]"));
  EXPECT_EQ(result.outcome, Outcome::wrong_result);
  EXPECT_NE(result.message.find("500 were never written, or are NaN"), std::string::npos) << result.message;
}

TEST(UserKernelBench, WholeNumbersMustBeEqual) {
  std::string definition = replaced(kSaxpy, "type = \"f32*\"\nlength = \"n\"\ninout = true",
                                    "type = \"i32*\"\nlength = \"n\"\ninout = true");
  definition = replaced(definition, "saxpy(float* y", "saxpy(int* y");
  definition = replaced(definition, "saxpy_naive(float* y", "saxpy_naive(int* y");
  UserBench bench(definition);
  EXPECT_EQ(bench.run(definition).outcome, Outcome::ok);
  const DeviceResult result =
      bench.run(replaced(definition, kLine, "if (i < n) y[i] = a * x[i] + y[i] + (i == 7);\n  }"));
  EXPECT_EQ(result.outcome, Outcome::wrong_result);
  EXPECT_TRUE(result.message.starts_with("1 of 1000 cells of 'y' are wrong, the first is 7: ")) << result.message;
}

TEST(UserKernelBench, FinalistsRaceAndAreVerifiedAgain) {
  UserBench bench;
  const std::string other = "BLOCK=32,ITEMS=1";
  const auto results = bench.bench->race(
      {{kCode, bench.compile(std::string(kSaxpy), kCode)}, {other, bench.compile(std::string(kSaxpy), other)}},
      {.rounds = 1});
  ASSERT_EQ(results.size(), 2u);
  for (const DeviceResult& result : results) {
    EXPECT_EQ(result.outcome, Outcome::ok) << result.message;
    EXPECT_TRUE(result.raced);
  }
}

TEST(UserKernelBench, AReferenceThatIsNoneEndsTheSessionWithAMessage) {
  const auto message = [](const std::string& definition) -> std::string {
    try {
      UserBench bench(definition);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      return error.what();
    }
    return "";
  };
  const std::string naive = "if (i < n) y[i] = a * x[i] + y[i];\n}";
  EXPECT_NE(message(replaced(kSaxpy, naive, "if (i < n) const_cast<float*>(x)[i] = 0;\n}"))
                .find("the reference writes to 'x'"),
            std::string::npos);
  const std::string output = replaced(kSaxpy, "inout = true", "output = true");
  EXPECT_NE(message(replaced(output, naive, "if (i < n / 2) y[i] = a * x[i];\n}"))
                .find("leaves 500 of 1000 cells of 'y' unwritten"),
            std::string::npos);
  EXPECT_NE(
      message(replaced(kSaxpy, "grid = \"ceil_div(n, 128)\"", "grid = \"n - 1000\"")).find("cannot be launched: grid"),
      std::string::npos);
}

TEST(UserKernelSubject, TakesCapturedArgumentsAlong) {
  UserKernel kernel = parse_user_kernel(kSaxpy, "saxpy.cu").kernel;
  kernel.arguments[2].captured = "/captured/a.bin";
  const auto received = read_subject(UserKernelSubject(kernel).message());
  EXPECT_EQ(dynamic_cast<const UserKernelSubject&>(*received).kernel().arguments[2].captured, "/captured/a.bin");
  EXPECT_EQ(dynamic_cast<const UserKernelSubject&>(*received).kernel().arguments[0].captured, "");
}

TEST(UserKernelSubject, ArrivesWholeInAnotherProcess) {
  UserKernel kernel = parse_user_kernel(kSaxpy, "saxpy.cu").kernel;
  set_sizes(kernel, std::vector<std::string>{"n=77"});
  const UserKernelSubject sent(kernel);
  const auto received = read_subject(Message::from_cbor(Message::to_cbor(sent.message())));
  EXPECT_EQ(received->key(), sent.key());
  EXPECT_EQ(received->key().sizes, "n=77");
  EXPECT_EQ(received->key().unit, "GFLOP/s");
  EXPECT_EQ(received->source(kCode).text, sent.source(kCode).text);
  EXPECT_EQ(received->work(), 2 * 77);
  EXPECT_EQ(received->least_bytes(), 12 * 77);
  EXPECT_THROW(received->source("BLOCK=128,ITEMS=4"), Error) << "a rule forbids it";
}

TEST(UserKernelSubject, AKernelThatOnlyMovesDataIsRatedByItsBytes) {
  const UserKernelSubject subject(
      parse_user_kernel(replaced(kSaxpy, "flops = \"2 * n\"", "flops = \"0\""), "saxpy.cu").kernel);
  EXPECT_EQ(subject.key().unit, "GB/s");
  EXPECT_EQ(subject.work(), subject.least_bytes());
}

}  // namespace
}  // namespace stencil_tune
