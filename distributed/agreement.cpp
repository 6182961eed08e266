#include "distributed/agreement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <string>

namespace stencil_tune {
namespace {

/// What a rank says of its work; all have the same size.
struct RankOutcome {
  std::int32_t failed = 0;
  std::int32_t code = 0;
  char message[1016] = {};  // cut off where it is longer
};

RankOutcome failure(ErrorCode code, std::string_view message) {
  RankOutcome outcome{.failed = 1, .code = static_cast<std::int32_t>(code)};
  std::copy_n(message.begin(), std::min(message.size(), sizeof(outcome.message) - 1), outcome.message);
  return outcome;
}

RankOutcome outcome_of(const std::function<void()>& work) {
  try {
    work();
    return {};
  } catch (const Error& error) {
    return failure(error.code(), error.what());
  } catch (const std::exception& error) {
    return failure(ErrorCode::internal, error.what());
  }
}

template <class Value>
std::vector<Value> gather(Communicator& ranks, const Value& mine) {
  const auto* bytes = reinterpret_cast<const std::byte*>(&mine);
  const std::vector<std::byte> all = ranks.all_gather({bytes, sizeof(Value)});
  std::vector<Value> values(static_cast<std::size_t>(ranks.size()));
  std::memcpy(values.data(), all.data(), all.size());
  return values;
}

}  // namespace

void agree(Communicator& ranks, const std::function<void()>& work) {
  const std::vector<RankOutcome> outcomes = gather(ranks, outcome_of(work));
  for (std::size_t rank = 0; rank < outcomes.size(); ++rank) {
    const RankOutcome& outcome = outcomes[rank];
    if (outcome.failed == 0) continue;
    const std::string message = outcome.message;
    throw Error(static_cast<ErrorCode>(outcome.code),
                outcomes.size() == 1 ? message : fmt::format("rank {}: {}", rank, message));
  }
}

std::vector<std::int64_t> gather_numbers(Communicator& ranks, std::int64_t mine) { return gather(ranks, mine); }

double largest(Communicator& ranks, double mine) {
  const std::vector<double> all = gather(ranks, mine);
  return *std::max_element(all.begin(), all.end());
}

}  // namespace stencil_tune
