// Errors: one enum, one exception type, used by every part of the project.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace stencil_tune {

/// What went wrong, for programs. The message of the Error says it for people.
enum class ErrorCode {
  invalid_argument,      ///< a value outside its range: dims, budget, a null or misaligned pointer
  unknown_name,          ///< a name nothing here answers to; the message suggests the nearest
  malformed_code,        ///< a candidate code that does not parse
  malformed_definition,  ///< a stencil definition that does not parse; the message has line and column
  illegal_candidate,     ///< a candidate that breaks a named constraint
  nothing_to_update,     ///< boundary hold and a grid no larger than the halo
  exceeds_device_memory,
  missing_library,  ///< libcuda, NVRTC or a host compiler is not there
  unsupported_driver,
  no_device,
  device_lost,
  compile_failed,
  launch_failed,
  timeout,
  database_corrupt,
  database_newer,
  database_foreign,
  database_locked,
  database_io,
  file_io,
  internal,
};

/// The enum's own spelling, e.g. "unknown_name".
std::string_view name(ErrorCode code) noexcept;

/// Thrown by every function here that cannot do what was asked.
/// The message says what was asked, what was found, and what to do.
class Error : public std::runtime_error {
 public:
  /// `message` is for people.
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}

  ErrorCode code() const noexcept { return code_; }  ///< for programs

 private:
  ErrorCode code_;
};

}  // namespace stencil_tune
