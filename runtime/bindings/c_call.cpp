#include "runtime/bindings/c_call.hpp"

#include <array>
#include <new>

namespace stencil_tune {

static_assert(static_cast<int>(ErrorCode::internal) + 1 == STENCIL_TUNE_INTERNAL);
static_assert(static_cast<int>(ErrorCode::database_io) + 1 == STENCIL_TUNE_DATABASE_IO);
static_assert(static_cast<int>(ErrorCode::compile_failed) + 1 == STENCIL_TUNE_COMPILE_FAILED);

namespace {

/// By their numbers in C, which are no ranks.
constexpr std::array kMatches{Match::exact,     Match::nearest_size,      Match::same_architecture,
                              Match::predicted, Match::default_candidate, Match::stale,
                              Match::same_form};
static_assert(kMatches[STENCIL_TUNE_MATCH_EXACT] == Match::exact);
static_assert(kMatches[STENCIL_TUNE_MATCH_DEFAULT] == Match::default_candidate);
static_assert(kMatches[STENCIL_TUNE_MATCH_STALE] == Match::stale);
static_assert(kMatches[STENCIL_TUNE_MATCH_SAME_FORM] == Match::same_form);

}  // namespace

stencil_tune_match to_c(Match match) noexcept {
  return static_cast<stencil_tune_match>(std::find(kMatches.begin(), kMatches.end(), match) - kMatches.begin());
}

std::string& last_message() {
  thread_local std::string message;
  return message;
}

stencil_tune_status failure(stencil_tune_status status, const char* message) noexcept {
  try {
    last_message() = message;
  } catch (const std::bad_alloc&) {
    // The status has to do.
  }
  return status;
}

OwnedText copy_of(const std::string& text) {
  OwnedText copy(static_cast<char*>(std::malloc(text.size() + 1)));
  if (!copy) throw std::bad_alloc();
  std::memcpy(copy.get(), text.c_str(), text.size() + 1);
  return copy;
}

Place to_place(const std::int64_t* origin, std::int64_t step) {
  Place place{{0, 0, 0}, step};
  if (origin != nullptr) std::copy_n(origin, kMaxRank, place.origin.begin());
  return place;
}

std::optional<Box> to_box(const std::int64_t* low, const std::int64_t* high) {
  if (low == nullptr && high == nullptr) return std::nullopt;
  require(low, "low");
  require(high, "high");
  Box box;
  std::copy_n(low, kMaxRank, box.low.begin());
  std::copy_n(high, kMaxRank, box.high.begin());
  return box;
}

void require_size(const std::string& structure, std::size_t given, std::size_t first_version, std::size_t known,
                  const char* start) {
  if (given >= first_version && given <= known) return;
  throw Error(ErrorCode::invalid_argument, structure + "::struct_size is " + std::to_string(given) +
                                               ", this library knows " + std::to_string(known) + "; start from " +
                                               start);
}

}  // namespace stencil_tune

using namespace stencil_tune;

extern "C" {

const char* stencil_tune_version(void) { return STENCIL_TUNE_VERSION; }

const char* stencil_tune_error_message(void) { return last_message().c_str(); }

const char* stencil_tune_status_name(stencil_tune_status status) {
  if (status == STENCIL_TUNE_OK) return "ok";
  // The names are string literals, so that their text ends in a zero.
  if (status < STENCIL_TUNE_OK || status > STENCIL_TUNE_INTERNAL) return "unknown";
  return name(static_cast<ErrorCode>(static_cast<int>(status) - 1)).data();
}

const char* stencil_tune_match_name(stencil_tune_match match) {
  const auto number = static_cast<std::size_t>(match);
  return number < kMatches.size() ? name(kMatches[number]).data() : "unknown";
}

}  // extern "C"
