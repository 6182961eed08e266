// The values that cross between the session and its workers: Message(value), and message.get<Value>(), which throws
// nlohmann::json::exception for a message of another shape. Members travel by name, enumerations as their numbers.
#pragma once

#include "stencil_tune/error.hpp"
#include "tuner/workers/protocol.hpp"
#include "tuner/workers/worker.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <vector>

/// CBOR binary, so that bytes travel as they are.
template <>
struct nlohmann::adl_serializer<std::vector<std::byte>> {
  static void to_json(json& message, const std::vector<std::byte>& bytes);
  static void from_json(const json& message, std::vector<std::byte>& bytes);
};

namespace stencil_tune {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Coefficient, name, value)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Node, op, value, index, offset, operands)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Update, output, expression)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Stage, updates)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Rotation, from, to)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Hold, field, layers_of)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Profile, field, along)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LayerField, field, axis)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FieldStorage, field, type)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(LayerWidths, low, high)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(WrittenEdge, field, axis, high, word, terms)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(WrittenForm, nodes, stages, edges)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Stencil, name, rank, fields, coefficients, nodes, stages, rotations, holds, profiles,
                                   layer_fields, storages, written)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Extents, rank, n)

/// Without its facts, which make_problem() derives again. What the stencil says of an axis is among the boundaries.
void to_json(Message& message, const Problem& problem);
void from_json(const Message& message, Problem& problem);

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(WorkerOptions, device, architecture, compile_width, compile_deadline_s,
                                   run_deadline_s, start_deadline_s, seed, compile_memory_bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(KernelResources, registers, spill_bytes, stack_bytes, static_shared)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CompiledKernel, cubin, entry, resources, seconds)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CompileResult, code, outcome, message, kernel)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MeasurePlan, first_look_ms, drop_factor, best_ms, relative_interval, cap_ms)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RacePlan, rounds, under_load, load_rounds, again, warm_up_ms, ahead_ms, settle_ms,
                                   load_ms)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Limits, compute_capability, max_threads_per_block, max_registers_per_thread,
                                   registers_per_sm, max_threads_per_sm, max_blocks_per_sm, shared_per_block,
                                   shared_per_sm)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DeviceFacts, ordinal, name, uuid, architecture, multiprocessors, memory_bytes,
                                   free_bytes, l2_bytes, clock_khz, memory_clock_khz, memory_bus_bits, driver, limits)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DeviceSession, device, ceiling_gbs, fits_in_l2)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Timing, median_ms, low_ms, high_ms, samples)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ClockReading, sm_clock_mhz, memory_clock_mhz, temperature_c, power_w, throttle)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DeviceResult, outcome, message, timing, occupancy, dropped, raced, clocks,
                                   sustained_ms, watts, sharpness, sharpness_note)

/// A worker's answer as a value. A number that is not whole is a measurement: from 10^9 on, or where it is none, the
/// answer is of another shape.
void require_measurements(const Message& answer);
template <class Value>
Value answer_as(const Message& answer) {
  require_measurements(answer);
  return answer.get<Value>();
}

/// An Error as a message {"error": code, "message": text}, and back: throws it if the message is one.
Message to_message(const Error& error);
void throw_if_error(const Message& message);

}  // namespace stencil_tune
