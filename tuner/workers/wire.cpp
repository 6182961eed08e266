#include "tuner/workers/wire.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace stencil_tune {
namespace {

/// CBOR binary for the bytes, so that they travel as they are.
Message binary(const std::vector<std::byte>& bytes) {
  std::vector<std::uint8_t> copy(bytes.size());
  std::transform(bytes.begin(), bytes.end(), copy.begin(),
                 [](std::byte b) { return std::to_integer<std::uint8_t>(b); });
  return Message::binary(std::move(copy));
}

std::vector<std::byte> bytes_from(const Message& message) {
  const auto& binary = message.get_binary();
  std::vector<std::byte> bytes(binary.size());
  std::transform(binary.begin(), binary.end(), bytes.begin(), [](std::uint8_t b) { return std::byte{b}; });
  return bytes;
}

template <class Enum>
Enum enum_from(const Message& message) {
  return static_cast<Enum>(message.get<int>());
}

template <class Enum>
int number(Enum value) {
  return static_cast<int>(value);
}

Message to_message(const Stencil& stencil) {
  Message message{{"name", stencil.name}, {"rank", stencil.rank}, {"fields", stencil.fields}};
  Message& coefficients = message["coefficients"] = Message::array();
  for (const Coefficient& c : stencil.coefficients) coefficients.push_back(Message::array({c.name, c.value}));
  Message& nodes = message["nodes"] = Message::array();
  for (const Node& n : stencil.nodes) {
    nodes.push_back(Message::array({number(n.op), n.value, n.index, n.offset, n.operands}));
  }
  Message& stages = message["stages"] = Message::array();
  for (const Stage& stage : stencil.stages) {
    Message updates = Message::array();
    for (const Update& u : stage.updates) updates.push_back(Message::array({u.output, u.expression}));
    stages.push_back(std::move(updates));
  }
  Message& rotations = message["rotations"] = Message::array();
  for (const Rotation& r : stencil.rotations) rotations.push_back(Message::array({r.from, r.to}));
  return message;
}

Stencil stencil_from(const Message& message) {
  Stencil stencil;
  stencil.name = message.at("name");
  stencil.rank = message.at("rank");
  stencil.fields = message.at("fields").get<std::vector<std::string>>();
  for (const Message& c : message.at("coefficients")) stencil.coefficients.push_back({c.at(0), c.at(1)});
  for (const Message& n : message.at("nodes")) {
    stencil.nodes.push_back(
        {enum_from<Operation>(n.at(0)), n.at(1), n.at(2), n.at(3).get<Offset>(), n.at(4).get<std::array<NodeId, 3>>()});
  }
  for (const Message& updates : message.at("stages")) {
    Stage stage;
    for (const Message& u : updates) stage.updates.push_back({u.at(0), u.at(1)});
    stencil.stages.push_back(std::move(stage));
  }
  for (const Message& r : message.at("rotations")) stencil.rotations.push_back({r.at(0), r.at(1)});
  return stencil;
}

}  // namespace

Message to_message(const Problem& problem) {
  return {{"stencil", to_message(problem.stencil)},
          {"stage", problem.stage},
          {"type", number(problem.type)},
          {"boundaries", {number(problem.boundaries[0]), number(problem.boundaries[1]), number(problem.boundaries[2])}},
          {"rank", problem.extents.rank},
          {"extents", problem.extents.n},
          {"pitch", problem.pitch},
          {"steps", problem.steps}};
}

Problem problem_from(const Message& message) {
  Boundaries boundaries;
  for (std::size_t axis = 0; axis < boundaries.size(); ++axis) {
    boundaries[axis] = enum_from<Boundary>(message.at("boundaries").at(axis));
  }
  Extents extents;
  extents.rank = message.at("rank");
  extents.n = message.at("extents").get<std::array<std::int64_t, kMaxRank>>();
  return make_problem(stencil_from(message.at("stencil")), enum_from<ElementType>(message.at("type")), boundaries,
                      extents, message.at("pitch"), message.at("steps"), message.at("stage"));
}

Message to_message(const WorkerOptions& options) {
  return {{"device", options.device}, {"architecture", options.architecture}, {"seed", options.seed}};
}

WorkerOptions options_from(const Message& message) {
  WorkerOptions options;
  options.device = message.at("device");
  options.architecture = message.at("architecture");
  options.seed = message.at("seed");
  return options;
}

Message to_message(const CompiledKernel& kernel) {
  return {{"cubin", binary(kernel.cubin)},
          {"entry", kernel.entry},
          {"registers", kernel.resources.registers},
          {"spill_bytes", kernel.resources.spill_bytes},
          {"stack_bytes", kernel.resources.stack_bytes},
          {"static_shared", kernel.resources.static_shared},
          {"seconds", kernel.seconds}};
}

CompiledKernel kernel_from(const Message& message) {
  CompiledKernel kernel;
  kernel.cubin = bytes_from(message.at("cubin"));
  kernel.entry = message.at("entry");
  kernel.resources.registers = message.at("registers");
  kernel.resources.spill_bytes = message.at("spill_bytes");
  kernel.resources.stack_bytes = message.at("stack_bytes");
  kernel.resources.static_shared = message.at("static_shared");
  kernel.seconds = message.at("seconds");
  return kernel;
}

Message to_message(const CompileResult& result) {
  return {{"code", code(result.tuning)},
          {"outcome", number(result.outcome)},
          {"message", result.message},
          {"kernel", to_message(result.kernel)}};
}

CompileResult compile_result_from(const Message& message) {
  return {parse_code(message.at("code").get<std::string>()), enum_from<Outcome>(message.at("outcome")),
          message.at("message"), kernel_from(message.at("kernel"))};
}

Message to_message(const MeasurePlan& plan) {
  return {{"first_look_ms", plan.first_look_ms},         {"drop_factor", plan.drop_factor}, {"best_ms", plan.best_ms},
          {"relative_interval", plan.relative_interval}, {"cap_ms", plan.cap_ms},           {"verify", plan.verify}};
}

MeasurePlan plan_from(const Message& message) {
  MeasurePlan plan;
  plan.first_look_ms = message.at("first_look_ms");
  plan.drop_factor = message.at("drop_factor");
  plan.best_ms = message.at("best_ms");
  plan.relative_interval = message.at("relative_interval");
  plan.cap_ms = message.at("cap_ms");
  plan.verify = message.at("verify");
  return plan;
}

Message to_message(const DeviceFacts& facts) {
  const Limits& l = facts.limits;
  return {{"ordinal", facts.ordinal},
          {"name", facts.name},
          {"uuid", facts.uuid},
          {"architecture", facts.architecture},
          {"multiprocessors", facts.multiprocessors},
          {"memory_bytes", facts.memory_bytes},
          {"free_bytes", facts.free_bytes},
          {"l2_bytes", facts.l2_bytes},
          {"clock_khz", facts.clock_khz},
          {"memory_clock_khz", facts.memory_clock_khz},
          {"memory_bus_bits", facts.memory_bus_bits},
          {"driver", facts.driver},
          {"limits", Message::array({l.compute_capability, l.max_threads_per_block, l.max_registers_per_thread,
                                     l.registers_per_sm, l.max_threads_per_sm, l.max_blocks_per_sm, l.shared_per_block,
                                     l.shared_per_sm})}};
}

DeviceFacts facts_from(const Message& message) {
  DeviceFacts facts;
  facts.ordinal = message.at("ordinal");
  facts.name = message.at("name");
  facts.uuid = message.at("uuid");
  facts.architecture = message.at("architecture");
  facts.multiprocessors = message.at("multiprocessors");
  facts.memory_bytes = message.at("memory_bytes");
  facts.free_bytes = message.at("free_bytes");
  facts.l2_bytes = message.at("l2_bytes");
  facts.clock_khz = message.at("clock_khz");
  facts.memory_clock_khz = message.at("memory_clock_khz");
  facts.memory_bus_bits = message.at("memory_bus_bits");
  facts.driver = message.at("driver");
  const Message& l = message.at("limits");
  facts.limits = {l.at(0), l.at(1), l.at(2), l.at(3), l.at(4), l.at(5), l.at(6), l.at(7)};
  return facts;
}

Message to_message(const DeviceSession& session) {
  return {{"device", to_message(session.device)},
          {"ceiling_gbs", session.ceiling_gbs},
          {"fits_in_l2", session.fits_in_l2},
          {"sm_clock_mhz", session.sm_clock_mhz},
          {"memory_clock_mhz", session.memory_clock_mhz},
          {"throttle", session.throttle}};
}

DeviceSession session_from(const Message& message) {
  return {facts_from(message.at("device")), message.at("ceiling_gbs"),      message.at("fits_in_l2"),
          message.at("sm_clock_mhz"),       message.at("memory_clock_mhz"), message.at("throttle")};
}

Message to_message(const DeviceResult& result) {
  return {{"outcome", number(result.outcome)},
          {"message", result.message},
          {"timing", Message::array({result.timing.median_ms, result.timing.low_ms, result.timing.high_ms,
                                     result.timing.samples})},
          {"occupancy", result.occupancy},
          {"dropped", result.dropped}};
}

DeviceResult device_result_from(const Message& message) {
  const Message& t = message.at("timing");
  return {enum_from<Outcome>(message.at("outcome")),
          message.at("message"),
          {t.at(0), t.at(1), t.at(2), t.at(3)},
          message.at("occupancy"),
          message.at("dropped")};
}

Message to_message(const Error& error) { return {{"error", number(error.code())}, {"message", error.what()}}; }

void throw_if_error(const Message& message) {
  if (message.contains("error")) throw Error(enum_from<ErrorCode>(message.at("error")), message.at("message"));
}

}  // namespace stencil_tune
