// Fuzz target: the text of winners, as `db import` reads it.
#include "db/exchange.hpp"
#include "db/stored_code.hpp"
#include "generator/printable.hpp"
#include "stencil_tune/error.hpp"
#include "tests/fuzz/harm.hpp"

using namespace stencil_tune;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto winners = parse_winners(text_of(data, size));
    const std::string text = format_winners(winners);
    require(printable_lines(text) == text, "the text is not printable");
    require(format_winners(parse_winners(text)) == text, "winners do not read back");
    for (const WinnerRecord& winner : winners) {
      if (const auto objection = objection_to(winner.trial)) require(printable(*objection) == *objection, "objection");
    }
  } catch (const Error& error) {
    require(error.code() == ErrorCode::invalid_argument, error.what());
    require(printable(error.what()) == error.what(), "the message is no printable line");
  }
  return 0;
}
