#include "bench/scaling/scaling_record.hpp"

#include "generator/cut/halo_need.hpp"
#include "stencil_tune/error.hpp"
#include "stencil_tune/library.hpp"
#include "tuner/scaling/recorded_links.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cmath>

namespace bench {
namespace {

using namespace stencil_tune;

using Json = nlohmann::json;

template <class Number>
std::array<Number, kMaxRank> three(const Json& list) {
  std::array<Number, kMaxRank> all{1, 1, 1};
  for (std::size_t i = 0; i < list.size() && i < kMaxRank; ++i) all[i] = list[i].get<Number>();
  return all;
}

MeasuredScaling read_point(const Json& point, const Links& links) {
  const auto rank = static_cast<int>(point.at("dims").size());
  const Extents extents{rank, three<std::int64_t>(point.at("dims"))};
  const Boundaries boundaries = parse_boundaries(point.at("boundary").get<std::string>(), rank);
  const Problem whole =
      make_problem(load_stencil(point.at("stencil").get<std::string>()),
                   parse_element_type(point.at("type").get<std::string>()), boundaries, extents, 0, 1, kWholeStep);
  const int per_exchange = point.at("steps_per_exchange");
  const Decomposition grid(extents, boundaries, three<int>(point.at("cut")), halo_need(whole, per_exchange).arrays);
  const LocalKernel kernel{.fused_steps = point.at("fused_steps"), .gstencils = point.at("one_gpu_gstencils")};
  return {.name = fmt::format("{} {} {} over {} GPUs", point.at("stencil").get<std::string>(),
                              point.at("type").get<std::string>(), to_string(extents), grid.ranks()),
          .gstencils = point.at("gstencils"),
          .predicted = predict_scaling(whole, grid, kernel, per_exchange, links)};
}

}  // namespace

bool MeasuredScaling::is_within_bound() const { return std::abs(error()) <= kMostScalingError; }

std::vector<MeasuredScaling> read_scaling_record(std::string_view text) try {
  Links links;
  take_recorded_links(text, links);
  std::vector<MeasuredScaling> all;
  const Json record = Json::parse(text);
  for (const Json& point : record.at("points")) all.push_back(read_point(point, links));
  return all;
} catch (const Json::exception& error) {
  throw Error(ErrorCode::malformed_definition, fmt::format("no record of bench/scaling: {}", error.what()));
}

}  // namespace bench
