// Nothing was tuned for what was asked: no wrong use of the program, though a name of nothing.
#pragma once

#include "stencil_tune/error.hpp"

namespace stencil_tune {

/// An unknown name, which the database could have had.
class NoWinner : public Error {
 public:
  /// `message` says how to get one.
  explicit NoWinner(const std::string& message) : Error(ErrorCode::unknown_name, message) {}
};

}  // namespace stencil_tune
