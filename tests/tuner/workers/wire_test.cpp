#include "tuner/workers/wire.hpp"

#include "generator/definition/definition.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace stencil_tune {
namespace {

TEST(Wire, AProblemArrivesAsItWas) {
  const Problem sent = make_problem(make_builtin(Shape::box, 2, 2, Sharing::symmetric), ElementType::bf16,
                                    {Boundary::periodic, Boundary::reflect, Boundary::hold}, {2, {100, 50, 1}}, 112);
  const Problem received = Message::from_cbor(Message::to_cbor(sent)).get<Problem>();
  EXPECT_EQ(canonical_text(received.stencil), canonical_text(sent.stencil));
  EXPECT_EQ(received.stencil.nodes, sent.stencil.nodes);
  EXPECT_EQ(received.stencil.written.nodes, sent.stencil.written.nodes);
  EXPECT_EQ(received.stencil.written.stages.size(), 1u);
  EXPECT_EQ(received.stencil.rotations.size(), sent.stencil.rotations.size());
  for (std::size_t i = 0; i < sent.stencil.coefficients.size(); ++i) {
    EXPECT_EQ(received.stencil.coefficients[i].value, sent.stencil.coefficients[i].value);
  }
  EXPECT_EQ(received.type, sent.type);
  EXPECT_EQ(received.boundaries, sent.boundaries);
  EXPECT_EQ(received.extents, sent.extents);
  EXPECT_EQ(received.pitch, sent.pitch);
}

TEST(Wire, AProblemArrivesWithItsProfilesAndEdges) {
  const Stencil stencil = parse_definition(
      "rank = 2\nfields = [\"d(y)\", \"u\", \"v\"]\n[update]\nv = \"d[y+1]*u[x-1]\"\n[boundary]\nx = \"odd\"\n",
      "odd.toml");
  const Problem sent = make_problem(stencil, ElementType::f32, {}, {2, {100, 50, 1}});
  const Problem received = Message::from_cbor(Message::to_cbor(sent)).get<Problem>();
  EXPECT_EQ(canonical_text(received.stencil), canonical_text(sent.stencil));
  EXPECT_EQ(kernel_inputs(received), kernel_inputs(sent));
  EXPECT_EQ(cells_of_field(received, 0), 50);
  EXPECT_EQ(received.boundaries, sent.boundaries);
  ASSERT_EQ(received.stencil.written.edges.size(), sent.stencil.written.edges.size());
  EXPECT_EQ(received.stencil.written.edges.back().word, EdgeWord::odd);
}

TEST(Wire, ACompileResultArrivesWithItsBinary) {
  CompileResult sent;
  sent.code = "direct.bx64";
  sent.outcome = Outcome::compile_failed;
  sent.message = "line 3: \xff is no character";
  sent.kernel = {{std::byte{0x7f}, std::byte{0}}, "kernel", {40, 8, 16, 1024}, 0.5};
  EXPECT_TRUE(Message(sent).at("kernel").at("cubin").is_binary());  // megabytes as a list of numbers would be slow
  const CompileResult received = Message::from_cbor(Message::to_cbor(sent)).get<CompileResult>();
  EXPECT_EQ(received.code, sent.code);
  EXPECT_EQ(received.outcome, sent.outcome);
  EXPECT_EQ(received.message, sent.message);
  EXPECT_EQ(received.kernel.cubin, sent.kernel.cubin);
  EXPECT_EQ(received.kernel.entry, sent.kernel.entry);
  EXPECT_EQ(received.kernel.resources, sent.kernel.resources);
}

TEST(Wire, ADeviceSessionArrivesWithAllFacts) {
  DeviceSession sent;
  sent.device = {1, "NVIDIA H200", "GPU-1", "sm_90", 132, 1, 2, 3, 4, 5, 6, "13.0", {}};
  sent.device.limits.shared_per_block = 99;
  sent.ceiling_gbs = 4240;
  sent.fits_in_l2 = true;
  const auto received = Message(sent).get<DeviceSession>();
  EXPECT_EQ(received.device, sent.device);
  EXPECT_EQ(received.ceiling_gbs, sent.ceiling_gbs);
  EXPECT_EQ(received.fits_in_l2, sent.fits_in_l2);
}

// Bindings name every member, so that one more does not compile before it is looked at here.
TEST(Wire, PlansArriveWhole) {
  const MeasurePlan sent{1, 2, 3, 4, 5};
  const auto [first_look_ms, drop_factor, best_ms, relative_interval, cap_ms] = Message(sent).get<MeasurePlan>();
  EXPECT_EQ(first_look_ms, 1);
  EXPECT_EQ(drop_factor, 2);
  EXPECT_EQ(best_ms, 3);
  EXPECT_EQ(relative_interval, 4);
  EXPECT_EQ(cap_ms, 5);
}

TEST(Wire, ResultsArriveWhole) {
  const DeviceResult sent{Outcome::wrong_result,
                          "one cell",
                          {1, 0.9, 1.1, 11},
                          0.5,
                          true,
                          true,
                          {1980, 3201, 61, 580, "power cap"},
                          1.25,
                          612,
                          0.99,
                          "equal"};
  const auto [outcome, message, timing, occupancy, dropped, raced, clocks, sustained_ms, watts, sharpness, note] =
      Message(sent).get<DeviceResult>();
  const auto [median_ms, low_ms, high_ms, samples] = timing;
  const auto [sm_clock_mhz, memory_clock_mhz, temperature_c, power_w, throttle] = clocks;
  EXPECT_EQ(outcome, Outcome::wrong_result);
  EXPECT_EQ(message, "one cell");
  EXPECT_EQ(median_ms, 1);
  EXPECT_EQ(low_ms, 0.9);
  EXPECT_EQ(high_ms, 1.1);
  EXPECT_EQ(samples, 11);
  EXPECT_EQ(occupancy, 0.5);
  EXPECT_TRUE(dropped);
  EXPECT_TRUE(raced);
  EXPECT_EQ(sm_clock_mhz, 1980);
  EXPECT_EQ(memory_clock_mhz, 3201);
  EXPECT_EQ(temperature_c, 61);
  EXPECT_EQ(power_w, 580);
  EXPECT_EQ(throttle, "power cap");
  EXPECT_EQ(sustained_ms, 1.25);
  EXPECT_EQ(watts, 612);
  EXPECT_EQ(sharpness, 0.99);
  EXPECT_EQ(note, "equal");
}

TEST(Wire, PlansOfRacesArriveWhole) {
  const RacePlan sent{1, 2, 4, 5, 10, 15, 20, 30};
  const auto [rounds, under_load, load_rounds, again, warm_up_ms, ahead_ms, settle_ms, load_ms] =
      Message(sent).get<RacePlan>();
  EXPECT_EQ(rounds, 1);
  EXPECT_EQ(under_load, 2);
  EXPECT_EQ(load_rounds, 4);
  EXPECT_EQ(again, 5);
  EXPECT_EQ(warm_up_ms, 10);
  EXPECT_EQ(ahead_ms, 15);
  EXPECT_EQ(settle_ms, 20);
  EXPECT_EQ(load_ms, 30);
}

TEST(Wire, AnErrorIsThrownOnTheOtherSide) {
  const Message message = to_message(Error(ErrorCode::exceeds_device_memory, "too large"));
  try {
    throw_if_error(message);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::exceeds_device_memory);
    EXPECT_STREQ(error.what(), "too large");
  }
  EXPECT_NO_THROW(throw_if_error({{"ready", true}}));
}

TEST(Wire, AnAnswerThatMeasuredTooMuchIsNone) {
  Message clocks = ClockReading{};
  EXPECT_EQ(answer_as<ClockReading>(clocks).sm_clock_mhz, 0);
  clocks["sm_clock_mhz"] = 5.3e161;
  EXPECT_THROW(answer_as<ClockReading>(clocks), Message::exception);
  clocks["sm_clock_mhz"] = std::nan("");
  EXPECT_THROW(answer_as<ClockReading>(clocks), Message::exception);
}

}  // namespace
}  // namespace stencil_tune
