#include "db/records.hpp"

#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <array>
#include <tuple>
#include <utility>

namespace stencil_tune {
namespace {

constexpr std::array<std::pair<Outcome, std::string_view>, 9> kOutcomes{{
    {Outcome::ok, "ok"},
    {Outcome::compile_failed, "compile_failed"},
    {Outcome::exceeds_limits, "exceeds_limits"},
    {Outcome::wrong_result, "wrong_result"},
    {Outcome::launch_failed, "launch_failed"},
    {Outcome::timeout, "timeout"},
    {Outcome::device_lost, "device_lost"},
    {Outcome::worker_killed, "worker_killed"},
    {Outcome::compile_timeout, "compile_timeout"},
}};

}  // namespace

bool operator==(const ProblemKey& a, const ProblemKey& b) {
  const auto compared = [](const ProblemKey& key) {
    return std::tie(key.stencil_key, key.stage, key.type, key.boundaries, key.extents, key.pitch, key.steps, key.kind,
                    key.sizes);
  };
  return compared(a) == compared(b);
}

std::string_view name(Outcome outcome) noexcept {
  for (const auto& [value, text] : kOutcomes) {
    if (value == outcome) return text;
  }
  return "unknown";
}

Outcome parse_outcome(std::string_view text) {
  std::string names;
  for (const auto& [value, name] : kOutcomes) {
    if (name == text) return value;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
  }
  throw Error(ErrorCode::unknown_name, fmt::format("'{}' is not an outcome; an outcome is one of {}", text, names));
}

std::string_view name(SubjectKind kind) noexcept { return kind == SubjectKind::kernel ? "kernel" : "stencil"; }

SubjectKind parse_subject_kind(std::string_view text) {
  for (const SubjectKind kind : {SubjectKind::stencil, SubjectKind::kernel}) {
    if (name(kind) == text) return kind;
  }
  throw Error(ErrorCode::unknown_name, fmt::format("'{}' is neither a stencil nor a kernel", text));
}

bool deserves_another_try(Outcome outcome) noexcept {
  return outcome == Outcome::worker_killed || outcome == Outcome::compile_timeout;
}

}  // namespace stencil_tune
