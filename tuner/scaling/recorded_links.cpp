#include "tuner/scaling/recorded_links.hpp"

#include "stencil_tune/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace stencil_tune {

void take_recorded_links(std::string_view record, Links& links) try {
  const nlohmann::json json = nlohmann::json::parse(record);
  if (json.at("format") != "stencil-tune scaling") {
    throw Error(ErrorCode::malformed_definition, "no record of bench/scaling: another format");
  }
  const nlohmann::json said = json.value("links", nlohmann::json::object());
  links.node_gbs = said.value("node_gbs", links.node_gbs);
  links.node_latency_us = said.value("node_latency_us", links.node_latency_us);
  links.copy_gbs = said.value("copy_gbs", links.copy_gbs);
  if (links.node_gbs > 0 && links.node_latency_us >= 0 && links.copy_gbs > 0) return;
  throw Error(ErrorCode::malformed_definition, "no record of bench/scaling: a rate of its links is not positive");
} catch (const nlohmann::json::exception& error) {
  throw Error(ErrorCode::malformed_definition, fmt::format("no record of bench/scaling: {}", error.what()));
}

}  // namespace stencil_tune
