#include "runtime/model/calibration.hpp"

#include "runtime/model/calibration_files.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace stencil_tune {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MemoryConstants, dram_efficiency, l2_efficiency, cache_from, copy_norm)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SweepConstants, norm, beyond_copy, latency_ns, block_start_ns, barrier_ns,
                                   first_read_cost, reread_cost, strided_l1_cost, strided_l2_cost, near_share,
                                   near_share_of_short, gather_ns, gather_of_walks_ns, turn_ns,
                                   overlap_between_barriers, ready_share, arithmetic_clocks, other_clocks,
                                   waiting_clocks, l1_cost, shared_cost, depth_cost, spill_cost, thread_instructions,
                                   step_instructions)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FusedConstants, norm, ready_share, f32_clocks, other_clocks, cached_instructions,
                                   fetch_cost, spill_cost, reread_cost, depth_cost, apart_cost, stored_cost,
                                   split_sector_cost, block_start_ns, trip_ns, seam_ns, overlap_of_warps,
                                   overlap_with_barriers, slack_of_last_level, step_instructions, level_instructions,
                                   tma_instructions, split_instructions, block_instructions)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RegisterConstants, base, direct_window, direct_other, registers_window,
                                   registers_prefetch, registers_other, ring_window, ring_other, shared_window,
                                   shared_results, shared_unroll, shared_other, sums_ring, cells_ring, other_ring,
                                   sums_registers, cells_registers, other_registers, step_tma, step_copies,
                                   step_registers, fused_planes, fused_halo, fused_edge_cell, fused_other, fused_level)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FitRecord, trials, problems, candidates, deviation, level, highest, lost, agreement)

void to_json(nlohmann::json& json, const Calibration& c) {
  json = {{"gpu", c.gpu},       {"date", c.date},   {"note", c.note},   {"fitted_to", c.fitted_to},
          {"memory", c.memory}, {"sweep", c.sweep}, {"fused", c.fused}, {"registers", c.registers},
          {"terms", c.terms}};
}

void from_json(const nlohmann::json& json, Calibration& c) {
  json.at("gpu").get_to(c.gpu);
  json.at("date").get_to(c.date);
  json.at("note").get_to(c.note);
  json.at("fitted_to").get_to(c.fitted_to);
  json.at("memory").get_to(c.memory);
  json.at("sweep").get_to(c.sweep);
  json.at("fused").get_to(c.fused);
  json.at("registers").get_to(c.registers);
  json.at("terms").get_to(c.terms);
}

std::span<const Calibration> calibrations() {
  static const std::vector<Calibration> all = [] {
    std::vector<Calibration> parsed;
    for (const TemplateFile& file : calibration_files()) parsed.push_back(nlohmann::json::parse(file.text));
    return parsed;
  }();
  return all;
}

const Calibration& calibration_of(const DeviceModel& device) {
  const auto all = calibrations();
  const auto own =
      std::find_if(all.begin(), all.end(), [&](const Calibration& table) { return table.gpu == device.gpu; });
  return own != all.end() ? *own : all.front();
}

std::string describe_calibration(const DeviceModel& device, const Calibration& calibration) {
  const std::string fitted = fmt::format("fitted on {}, {}", calibration.gpu, calibration.date);
  return calibration.gpu == device.gpu ? fitted : fitted + ", scaled to this GPU's figures";
}

}  // namespace stencil_tune
