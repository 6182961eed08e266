#include "tuner/exchange/stencil_tables.hpp"

#include "db/rows/fields.hpp"
#include "db/rows/object_reader.hpp"
#include "db/rows/validate.hpp"
#include "db/stored_code.hpp"
#include "db/winner_choice.hpp"
#include "generator/candidates/family.hpp"
#include "generator/definition/text.hpp"
#include "generator/kernel_source/signature.hpp"
#include "generator/printable.hpp"
#include "generator/user_kernel/configuration.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <sstream>
#include <utility>

namespace stencil_tune {
namespace {

using Json = nlohmann::json;

constexpr const char* kFamily = "family";
constexpr const char* kUnknownTime = "1970-01-01T00:00:00Z";  // for trials whose file does not say when

/// "coarsening_depth"
std::string column_of(const Parameter& parameter) {
  std::string name(parameter.name);
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

/// The columns that these families need.
template <typename Families>
std::vector<std::string> columns_of(const Families& of) {
  std::vector<std::string> columns{kFamily};
  for (const Family* family : of) {
    for (const Parameter& parameter : family->parameters) {
      const std::string column = column_of(parameter);
      if (std::find(columns.begin(), columns.end(), column) == columns.end()) columns.push_back(column);
    }
  }
  return columns;
}

std::string value_text(const Parameter& parameter, int value) {
  return parameter.is_word() ? std::string(parameter.words.at(static_cast<std::size_t>(value))) : std::to_string(value);
}

/// Nothing where the text is no value of the parameter.
std::optional<int> parse_value(const Parameter& parameter, const std::string& text) {
  if (parameter.is_word()) {
    const auto word = std::find(parameter.words.begin(), parameter.words.end(), text);
    if (word == parameter.words.end()) return std::nullopt;
    return static_cast<int>(word - parameter.words.begin());
  }
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Throws Error(malformed_code) where a row is no candidate.
Tuning tuning_of(const TrialTable& table, const TableTrial& trial) {
  std::map<std::string, std::string> values;
  for (std::size_t i = 0; i < table.parameters.size(); ++i) values.emplace(table.parameters[i], trial.values[i]);
  const auto named = [&](const Family* family) { return family->name == values[kFamily]; };
  const auto all = families();
  const auto family = std::find_if(all.begin(), all.end(), named);
  if (family == all.end()) throw Error(ErrorCode::malformed_code, "it names no kernel family");
  Tuning tuning(**family);
  for (const Parameter& parameter : (*family)->parameters) {
    const auto text = values.find(column_of(parameter));
    if (text == values.end() || text->second == kNoValue) continue;
    const auto value = parse_value(parameter, text->second);
    if (!value) throw Error(ErrorCode::malformed_code, fmt::format("'{}' is no {}", text->second, parameter.name));
    parameter.set(tuning, *value);
  }
  return parse_code(code(tuning));  // as what is read from the database
}

using Names = std::vector<std::string>;

/// The parameters of a kernel of the user's own, in the order of its code: "BLOCK=64,ITEMS=2".
Names names_of(const std::string& code) {
  Names names;
  const auto settings = configuration_settings(code);
  for (const ParameterSetting& setting : *settings) names.emplace_back(setting.name);
  return names;
}

bool is_of_kernel(const ProblemKey& problem) { return problem.kind == SubjectKind::kernel; }

/// Files hold a configuration's parameters in any order, its code in the definition's. Throws Error(malformed_code)
/// where a row has other parameters.
std::string configuration_of(const Names& order, const TrialTable& table, const TableTrial& trial) {
  std::string code;
  for (const std::string& name : order) {
    const auto at = std::find(table.parameters.begin(), table.parameters.end(), name);
    if (at == table.parameters.end()) throw Error(ErrorCode::malformed_code, fmt::format("it does not say {}", name));
    const auto& value = trial.values[static_cast<std::size_t>(at - table.parameters.begin())];
    code += fmt::format("{}{}={}", code.empty() ? "" : ",", name, value);
  }
  if (table.parameters.size() == order.size()) return code;
  throw Error(ErrorCode::malformed_code,
              fmt::format("it has other parameters than the kernel's {}", fmt::join(order, ", ")));
}

/// Under which a table keeps the signature of what was measured: the family, or the kernel itself.
std::string source_of(const ProblemKey& problem, const std::string& code) {
  return is_of_kernel(problem) ? problem.stencil_name : std::string(parse_code(code).family->name);
}

/// In the order in which they come first.
std::vector<const Family*> families_of(std::span<const TrialRecord> trials) {
  std::vector<const Family*> found;
  for (const TrialRecord& trial : trials) {
    const Family* family = parse_code(trial.code).family;
    if (std::find(found.begin(), found.end(), family) == found.end()) found.push_back(family);
  }
  return found;
}

Json object_of_problem(const ProblemKey& problem) {
  Json object;
  const auto put = [&](std::string_view field, auto value) { object[std::string(field)] = value; };
  const auto add = as_columns(put);
  visit_problem_identity(problem, add);
  add("stencil_name", problem.stencil_name);
  add("kind", problem.kind);
  add("unit", problem.unit);
  return object;
}

Json origin_of(const TrialRecord& trial, std::span<const TrialRecord> trials) {
  const PlatformKey& platform = trial.platform;
  Json origin{{"problem", object_of_problem(trial.problem)}};
  origin["platform"] = {{"gpu", platform.gpu},
                        {"architecture", platform.architecture},
                        {"driver", platform.driver},
                        {"nvrtc", platform.nvrtc}};
  if (is_of_kernel(trial.problem)) origin["parameters"] = names_of(trial.code);
  for (const TrialRecord& each : trials) {
    origin["templates"][source_of(trial.problem, each.code)] = each.platform.template_signature;
  }
  return origin;
}

struct Origin {
  ProblemKey problem;
  PlatformKey platform;
  std::map<std::string, std::string> templates;
  Names parameters;    // parameters of a kernel of the user's own, in its codes' order
  double rate_ms = 0;  // the rate times ms of a sweep; 0: not known
};

std::string code_of(const Origin& origin, const TrialTable& table, const TableTrial& trial) {
  if (is_of_kernel(origin.problem)) return configuration_of(origin.parameters, table, trial);
  return code(tuning_of(table, trial));
}

Names read_names(const nlohmann::ordered_json& json) {
  const bool are_names = json.is_array() && std::all_of(json.begin(), json.end(), [](const auto& each) {
                           return each.is_string() && is_identifier(each.template get_ref<const std::string&>());
                         });
  if (are_names) return json.get<Names>();
  reject_import("stencil_tune: 'parameters' must be a list of names");
}

Origin read_origin(const Json& json) {
  Origin origin;
  const nlohmann::ordered_json ordered = json;
  ObjectReader reader(ordered, "stencil_tune");
  ObjectReader problem(reader.take("problem"), "stencil_tune.problem");
  visit_problem_identity(origin.problem, problem);
  problem("stencil_name", origin.problem.stencil_name);
  if (json.at("problem").contains("kind")) {  // earlier files know stencils alone
    problem("kind", origin.problem.kind);
    problem("unit", origin.problem.unit);
  }
  ObjectReader platform(reader.take("platform"), "stencil_tune.platform");
  platform("gpu", origin.platform.gpu);
  platform("architecture", origin.platform.architecture);
  platform("driver", origin.platform.driver);
  platform("nvrtc", origin.platform.nvrtc);
  const auto& templates = reader.take("templates");
  ObjectReader signatures(templates, "stencil_tune.templates");
  for (const auto& [family, signature] : templates.items()) signatures(family, origin.templates[family]);
  if (is_of_kernel(origin.problem)) origin.parameters = read_names(reader.take("parameters"));
  return origin;
}

Origin origin_of(const TrialTable& table, const std::optional<TrialRecord>& like) {
  if (!table.origin.is_null()) return read_origin(table.origin);
  if (!like) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("the file does not say which problem of stencil-tune its {} are trials of; name a winner of "
                    "it: --winner ID, an id of `stencil-tune list`",
                    table.kernel.empty() ? "rows" : printable(table.kernel)));
  }
  if (!table.gpu.empty() && table.gpu != like->platform.gpu) {
    throw Error(ErrorCode::invalid_argument, fmt::format("the file's trials are of {}, the winner is of {}",
                                                         printable(table.gpu), like->platform.gpu));
  }
  const ProblemKey& problem = like->problem;
  Origin origin{.problem = problem, .platform = like->platform, .templates = {}, .parameters = {}};
  origin.rate_ms = like->rate * like->timing.median_ms;
  if (!is_of_kernel(problem)) return origin;
  origin.templates[problem.stencil_name] = like->platform.template_signature;
  origin.parameters = names_of(like->code);
  return origin;
}

/// Kernel Tuner writes "2026-01-31 12:00:00.5+00:00".
std::string utc_time(std::string text) {
  std::replace(text.begin(), text.end(), ' ', 'T');
  if (text.ends_with("+00:00")) text.replace(text.size() - 6, 6, "Z");
  return is_utc_time(text) ? text : kUnknownTime;
}

TrialRecord record_of(const Origin& origin, const TrialTable& table, const TableTrial& row, const std::string& code) {
  TrialRecord record;
  record.problem = origin.problem;
  record.platform = origin.platform;
  const auto signature = origin.templates.find(source_of(origin.problem, code));
  record.platform.template_signature = signature == origin.templates.end() ? "unknown" : signature->second;
  record.code = code;
  record.outcome = row.outcome;
  record.timing = row.timing;
  if (!table.rate.empty()) {
    for (double* ms : {&record.timing.median_ms, &record.timing.low_ms, &record.timing.high_ms}) {
      *ms *= origin.rate_ms / 1000;
    }
  }
  if (row.outcome == Outcome::ok) {
    record.rate = row.rate > 0 ? row.rate : origin.rate_ms / record.timing.median_ms;
  } else {
    record.message = "imported: the file does not say more";
  }
  record.session = "imported";
  record.created_at = utc_time(row.when);
  return record;
}

/// The columns that a trial has: those of a configuration by its code, those of a candidate by its families.
std::map<std::string, std::string> values_of(const TrialRecord& trial) {
  if (!is_of_kernel(trial.problem)) return parameter_values(with_used_values_alone(parse_code(trial.code)));
  std::map<std::string, std::string> values;
  const auto settings = configuration_settings(trial.code);
  for (const auto& [name, value] : *settings) values.emplace(name, std::to_string(value));
  return values;
}

std::vector<std::string> columns_of_trials(std::span<const TrialRecord> trials) {
  if (!is_of_kernel(trials.front().problem)) return columns_of(families_of(trials));
  return names_of(trials.front().code);
}

/// Extents, x first, or the sizes of a kernel's definition in its order.
std::vector<std::int64_t> size_of_problem(const ProblemKey& problem) {
  std::vector<std::int64_t> size(problem.extents.n.begin(), problem.extents.n.begin() + problem.extents.rank);
  if (!is_of_kernel(problem)) return size;
  size.clear();
  std::istringstream parts(problem.sizes);
  for (std::string part; parts >> part;) {
    const std::size_t number = std::min(part.find('=') + 1, part.size());
    std::from_chars(part.data() + number, part.data() + part.size(), size.emplace_back(0));
  }
  return size;
}

}  // namespace

std::map<std::string, std::string> parameter_values(const Tuning& tuning) {
  std::map<std::string, std::string> values;
  for (const std::string& column : columns_of(families())) values.emplace(column, kNoValue);
  values[kFamily] = tuning.family->name;
  for (const Parameter& parameter : tuning.family->parameters) {
    if (parameter.used_by(tuning)) values[column_of(parameter)] = value_text(parameter, parameter.get(tuning));
  }
  return values;
}

TrialTable stencil_table(std::span<const TrialRecord> all) {
  std::vector<TrialRecord> trials(all.begin(), all.end());
  std::erase_if(trials, [](const TrialRecord& trial) {
    const bool was_checked = is_of_kernel(trial.problem) || is_sharp(trial);
    return !is_readable(trial) || (trial.outcome == Outcome::ok && !was_checked);
  });
  if (trials.empty()) {
    throw Error(ErrorCode::invalid_argument, "there are no measured trials of today's kernels to export");
  }
  const TrialRecord& first = trials.front();
  TrialTable table{.kernel = first.problem.stencil_name,
                   .gpu = first.platform.gpu,
                   .architecture = first.platform.architecture,
                   .size = size_of_problem(first.problem),
                   .parameters = columns_of_trials(trials)};
  table.origin = origin_of(first, trials);
  std::map<std::vector<std::string>, std::size_t> places;  // codes may differ in what is not used
  for (const TrialRecord& trial : trials) {
    const auto values = values_of(trial);
    TableTrial row{.outcome = trial.outcome, .timing = trial.timing, .rate = trial.rate};
    for (const std::string& column : table.parameters) row.values.push_back(values.at(column));
    row.benchmark_ms = trial.timing.median_ms * trial.timing.samples;
    row.when = trial.created_at;
    const auto [place, is_new] = places.try_emplace(row.values, table.trials.size());
    if (is_new) {
      table.trials.push_back(std::move(row));
    } else {
      table.trials[place->second] = std::move(row);
    }
  }
  return table;
}

StencilTrials stencil_trials(const TrialTable& table, const std::optional<TrialRecord>& like) {
  const Origin origin = origin_of(table, like);
  if (!table.rate.empty() && (table.rate != origin.problem.unit || origin.rate_ms == 0)) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the file has rates in {} and no times: only rates in {} beside a winner (--winner ID) say "
                            "how long a trial took",
                            printable(table.rate), origin.problem.unit));
  }
  StencilTrials result;
  for (const TableTrial& row : table.trials) {
    try {
      TrialRecord record = record_of(origin, table, row, code_of(origin, table, row));
      validate_foreign(record);
      if (const auto objection = objection_to(record)) throw Error(ErrorCode::illegal_candidate, *objection);
      result.trials.push_back(std::move(record));
    } catch (const Error& error) {
      ++result.refused[error.what()];
    }
  }
  return result;
}

}  // namespace stencil_tune
