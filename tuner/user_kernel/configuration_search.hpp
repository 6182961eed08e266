// The search of a kernel's configurations, by their codes.
#pragma once

#include "generator/user_kernel/configuration.hpp"
#include "tuner/search/strategy.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace stencil_tune {

/// `legal`: all legal configurations. `strategy`: a name of table_strategies(); throws Error(unknown_name).
std::unique_ptr<SearchStrategy<std::string>> configuration_search(const UserKernel& kernel,
                                                                  const std::vector<ParameterValues>& legal,
                                                                  std::string_view strategy, std::uint64_t seed);

}  // namespace stencil_tune
