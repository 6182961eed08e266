#include "stencil_tune/error.hpp"

namespace stencil_tune {

std::string_view name(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::invalid_argument:
      return "invalid_argument";
    case ErrorCode::unknown_name:
      return "unknown_name";
    case ErrorCode::malformed_code:
      return "malformed_code";
    case ErrorCode::malformed_definition:
      return "malformed_definition";
    case ErrorCode::illegal_candidate:
      return "illegal_candidate";
    case ErrorCode::nothing_to_update:
      return "nothing_to_update";
    case ErrorCode::exceeds_device_memory:
      return "exceeds_device_memory";
    case ErrorCode::missing_library:
      return "missing_library";
    case ErrorCode::unsupported_driver:
      return "unsupported_driver";
    case ErrorCode::no_device:
      return "no_device";
    case ErrorCode::device_lost:
      return "device_lost";
    case ErrorCode::compile_failed:
      return "compile_failed";
    case ErrorCode::launch_failed:
      return "launch_failed";
    case ErrorCode::timeout:
      return "timeout";
    case ErrorCode::database_corrupt:
      return "database_corrupt";
    case ErrorCode::database_newer:
      return "database_newer";
    case ErrorCode::database_foreign:
      return "database_foreign";
    case ErrorCode::database_locked:
      return "database_locked";
    case ErrorCode::database_io:
      return "database_io";
    case ErrorCode::file_io:
      return "file_io";
    case ErrorCode::internal:
      return "internal";
  }
  return "internal";
}

}  // namespace stencil_tune
