// What is tuned, as the engine sees it: a problem of a stencil, or a kernel of the user's own.
//
// To sessions, workers and databases a candidate is its code. What a code stands for, how it becomes a kernel and how
// one sees that the kernel is right is its subject's alone. Processes hand subjects on as messages.
#pragma once

#include "db/records.hpp"
#include "generator/candidates/limits.hpp"
#include "generator/candidates/run_plan.hpp"
#include "generator/kernel_source/source.hpp"
#include "runtime/cuda/device.hpp"
#include "runtime/cuda/driver.hpp"
#include "tuner/subject/message.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace stencil_tune {

class SubjectOnDevice;

class Subject {
 public:
  virtual ~Subject() = default;

  /// Under which its trials are kept.
  virtual ProblemKey key() const = 0;

  /// What rates count of one sweep, such as updated cells.
  virtual double work() const = 0;

  /// Bytes that a sweep has to move at the least; 0: not known.
  virtual double least_bytes() const = 0;

  /// Throws Error: malformed_code, illegal_candidate.
  virtual KernelSource source(const std::string& code) const = 0;

  /// The signature of what a candidate's kernel is made from, beside its code; PlatformKey::template_signature.
  virtual std::string signature(const std::string& code) const = 0;

  /// Dynamic shared memory of a block, bytes.
  virtual std::size_t shared_bytes(const std::string& code) const = 0;

  /// What keeps a stored candidate from running, as objection_to() of stored_code.hpp says it.
  virtual std::optional<std::string> objection_to(const TrialRecord& trial) const = 0;

  /// Sweeps of a run, and how a candidate makes them.
  virtual int steps() const { return 1; }
  virtual int sweeps(const std::string& /*code*/) const { return 1; }  ///< sweeps that a launch makes
  virtual RunPlan plan(const std::string& /*code*/, const Limits& /*limits*/) const { return {.launches = 1}; }

  /// The fastest of each kind races under load.
  virtual std::vector<std::string> kinds(const std::string& /*code*/) const { return {}; }

  /// What making a device ready may wait for without end, such as "the reference saxpy_naive"; empty: nothing.
  virtual std::string waited_for_at_start() const { return ""; }

  /// For read_subject() in another process.
  virtual Message message() const = 0;

  /// Allocates, fills, computes what is right. The driver's context is current; this must outlive it.
  /// Throws Error(exceeds_device_memory, ...).
  virtual std::unique_ptr<SubjectOnDevice> on_device(Driver& driver, const DeviceFacts& device, std::uint64_t seed,
                                                     CUstream_st* stream) const = 0;
};

/// Throws nlohmann::json::exception for a message of another shape, and what making the subject throws.
std::unique_ptr<Subject> read_subject(const Message& message);

}  // namespace stencil_tune
