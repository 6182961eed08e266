// A kernel of the user's own in the configuration that won: docs/kernels-of-your-own.md says how kernels are defined
// and tuned.
#pragma once

#include "stencil_tune/kernel.hpp"
#include "stencil_tune/span.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace stencil_tune {

/// A size of a definition with the value that it is wanted for.
struct KernelSize {
  std::string name{};      ///< as the definition has it
  std::int64_t value = 0;  ///< what the launches will have
};

/// Why this configuration. Where nothing was tuned, all but match, code and notes is empty.
struct TunedEvidence {
  /// exact: tuned for these sizes on this GPU model. stale: the same, but the source or what the definition says of the
  /// launch has changed since. nearest_size, same_architecture: as of stencils. default_candidate: the first legal one.
  Match match = Match::default_candidate;
  std::string code{};                ///< the configuration: "TILE=32,RX=4"
  std::string tuned_sizes{};         ///< where it won: "m=1024 n=1024 k=1024"
  std::string gpu{};                 ///< model name, then
  std::string driver{};              ///< then
  std::string nvrtc{};               ///< then
  std::string tuned_at{};            ///< ISO 8601, UTC
  double rate = 0;                   ///< in `unit`, then
  std::string unit{};                ///< "GFLOP/s", "GB/s" or "launches/s"
  std::vector<std::string> notes{};  ///< what a careful reader would want to know: winners passed over and why

  std::string sentence() const;  ///< all of it, for people
};

/// One argument of a launch: a device address, or a number. Numbers are passed in their own type, which must be that of
/// the definition (f16 and bf16 as 16-bit unsigned integers that hold their bits).
class LaunchValue {
 public:
  /// The address of an array in device memory.
  template <class Cell>
  LaunchValue(Cell* address) noexcept : is_address_(true), bytes_(sizeof address) {
    std::memcpy(value_, &address, sizeof address);
  }
  /// A number in its own type.
  template <class Number, class = std::enable_if_t<std::is_arithmetic_v<Number>>>
  LaunchValue(Number number) noexcept : is_floating_(std::is_floating_point_v<Number>), bytes_(sizeof number) {
    static_assert(sizeof number <= sizeof value_, "no type of a kernel's arguments is that large");
    std::memcpy(value_, &number, sizeof number);
  }

  bool is_address() const noexcept { return is_address_; }        ///< whether it is no number
  bool is_floating() const noexcept { return is_floating_; }      ///< whether it is a floating-point number
  std::size_t bytes() const noexcept { return bytes_; }           ///< memory that it takes
  const unsigned char* value() const noexcept { return value_; }  ///< its bytes

 private:
  alignas(8) unsigned char value_[8] = {};
  bool is_address_ = false;
  bool is_floating_ = false;
  std::size_t bytes_ = 0;
};

/// A handle: copies share one kernel. All functions may be called from several threads at once. Work is asynchronous on
/// the given stream, in the calling thread's current context.
class TunedKernel {
 public:
  struct State;
  /// Library::kernel() makes kernels.
  explicit TunedKernel(std::shared_ptr<State> state) : state_(std::move(state)) {}

  Match match() const noexcept { return evidence().match; }  ///< how well the configuration fits
  const TunedEvidence& evidence() const noexcept;            ///< where it comes from

  /// The CUDA source as it is compiled: a macro for each parameter, then the user's.
  std::string source() const;

  /// Compiles (or takes from the binary cache) and loads into the current context. Idempotent; needed once a context.
  /// Throws Error: compile_failed, missing_library, ...
  void prepare();

  /// One launch, with the grid of the sizes that the kernel was looked up for. The arguments are the definition's, in
  /// its order: addresses of arrays that are as long as it says, and values. They are not read by the host, and
  /// addresses are not checked.
  /// Throws Error(invalid_argument) for another number of arguments, a type that is not the definition's, a null
  /// address, and where prepare() was not called in the current context.
  template <class... Values>
  void launch(CUstream_st* stream, const Values&... values) {
    const LaunchValue all[] = {LaunchValue(values)...};
    launch_values(stream, {all, sizeof...(values)});
  }
  void launch_values(CUstream_st* stream, Span<const LaunchValue> values);  ///< the same

  const State& state() const noexcept { return *state_; }  ///< for the library's own code

 private:
  std::shared_ptr<State> state_;
};

}  // namespace stencil_tune
