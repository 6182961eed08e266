// What all functions of the C interface have in common: statuses for exceptions, and checks of what C hands over.
#pragma once

#include "stencil_tune/error.hpp"
#include "stencil_tune/grid.hpp"
#include "stencil_tune/kernel.hpp"
#include "stencil_tune/stencil_tune.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace stencil_tune {

/// What this thread's last call failed with.
std::string& last_message();

stencil_tune_status failure(stencil_tune_status status, const char* message) noexcept;

/// Runs the body; no exception leaves.
template <class Body>
stencil_tune_status guarded(Body body) noexcept {
  try {
    body();
    last_message().clear();
    return STENCIL_TUNE_OK;
  } catch (const Error& error) {
    return failure(static_cast<stencil_tune_status>(static_cast<int>(error.code()) + 1), error.what());
  } catch (const std::exception& error) {
    return failure(STENCIL_TUNE_INTERNAL, error.what());
  } catch (...) {
    return failure(STENCIL_TUNE_INTERNAL, "unknown exception");
  }
}

template <class Pointer>
void require(Pointer pointer, const char* what) {
  if (pointer == nullptr) throw Error(ErrorCode::invalid_argument, std::string(what) + " is a null pointer");
}

/// A span from a C array; null stands for none, whatever its count.
template <class Type>
std::span<Type> span_of(Type* first, std::int32_t count, const char* what) {
  if (first == nullptr) return {};
  if (count < 0) throw Error(ErrorCode::invalid_argument, std::string("a negative number of ") + what);
  return {first, static_cast<std::size_t>(count)};
}

inline std::string text_or_empty(const char* text) { return text != nullptr ? text : ""; }

struct Freed {
  void operator()(char* text) const noexcept { std::free(text); }
};
using OwnedText = std::unique_ptr<char, Freed>;

/// A copy that stencil_tune_free_text() frees.
OwnedText copy_of(const std::string& text);

stencil_tune_match to_c(Match match) noexcept;

/// A place from a C array, or the origin.
Place to_place(const std::int64_t* origin, std::int64_t step);

/// A box from two C arrays; none where both are null.
std::optional<Box> to_box(const std::int64_t* low, const std::int64_t* high);

/// Throws Error(invalid_argument) unless a structure that was given has at least what its first version had, and no
/// more than is known here.
void require_size(const std::string& structure, std::size_t given, std::size_t first_version, std::size_t known,
                  const char* start);

/// The structure that a program gave, which may be an older one: what it lacks is as in `defaults`.
template <class Structure>
Structure whole(const Structure& given, std::size_t first_version, const Structure& defaults, const char* name,
                const char* start) {
  require_size(name, given.struct_size, first_version, sizeof(Structure), start);
  Structure filled = defaults;
  std::memcpy(&filled, &given, given.struct_size);
  return filled;
}

}  // namespace stencil_tune
