// What a program writes, kept in memory.
#pragma once

#include "runtime/process/descriptor.hpp"

#include <cstddef>
#include <string>

namespace stencil_tune {

/// A file in memory to be a program's standard output, error, or both. It can be read at any time.
class CapturedOutput {
 public:
  /// Throws Error(file_io) when the system refuses.
  CapturedOutput();

  /// To hand to a Subprocess; valid as long as this object.
  int descriptor() const noexcept { return file_.get(); }

  /// All that was written so far.
  std::string text() const;

  /// The end of it: `bytes` at most, without newlines behind.
  std::string last(std::size_t bytes) const;

 private:
  std::size_t size() const;
  std::string read(std::size_t offset) const;

  Descriptor file_;
};

}  // namespace stencil_tune
