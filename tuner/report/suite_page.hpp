// What `bench` measured, as one page of HTML that needs nothing else.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace stencil_tune {

/// record: what `bench --json` prints. Winner, plain copy and the other kernels of each problem side by side, with
/// bars. Well-formed as XML too; all text is escaped. Throws Error(invalid_argument) where this is no such record.
std::string suite_page(const nlohmann::ordered_json& record);

}  // namespace stencil_tune
