// Weak and strong scaling over the GPUs of this machine, as one record and one table.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace bench {

/// What share of as many times one GPU's rate a run should reach; 0: nothing was promised.
struct Subject {
  std::string_view stencil;
  double weak_target = 0;
  double strong_target = 0;
  double share = 1;  ///< cells on an axis over those that were asked for: fewer where a stencil has many fields
};

/// Measures the links and each subject's runs of 100 steps, hold, f32: weak with so many cells on an axis of each GPU,
/// strong with as many in all; beside them one GPU with all of it, and with a part of its own. A run that fails, or
/// whose kernel nobody tuned, is named under `not_measured`, and the others go on. scaling_record.hpp reads the record.
nlohmann::ordered_json record_scaling(int gpus, std::int64_t cells);

/// The record as a table, with what the model says of each run beside it.
std::string scaling_table(const nlohmann::ordered_json& record);

}  // namespace bench
