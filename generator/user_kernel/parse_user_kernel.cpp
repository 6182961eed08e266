// Definitions of kernels: TOML to UserKernel.
#include "generator/definition/definition.hpp"
#include "generator/definition/toml_reader.hpp"
#include "generator/suggest.hpp"
#include "generator/user_kernel/comment.hpp"
#include "generator/user_kernel/user_kernel.hpp"
#include "generator/user_kernel/words.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace stencil_tune {
namespace {

const std::vector<std::string> kKeys{"kernel", "about",  "source",    "sizes",     "parameters", "default",
                                     "rules",  "launch", "arguments", "reference", "counts"};

class UserKernelReader : private TomlReader {
 public:
  UserKernelReader(std::string_view file, std::string_view text, std::string_view document)
      : TomlReader(file, text, document) {}

  UserKernelText run() {
    const toml::table document = parse();
    require_known(document, kKeys);
    kernel_.name = identifier(document, "kernel", "kernel = \"NAME\", of a __global__ function");
    kernel_.about = string_or(document, "about", "");
    sizes(document);
    parameters(document);
    default_values(document);
    rules(document);
    const toml::table& launch = required(document, "launch", "[launch] with block and grid");
    require_known(launch, {"block", "grid", "shared_bytes"});
    kernel_.launch = this->launch(launch, all_names_);
    arguments(document);
    reference(required(document, "reference", "[reference] with kernel = \"NAME\", or library and function"));
    counts(document);
    return {std::move(kernel_), string_or(document, "source", "")};
  }

 private:
  // ---- values

  const toml::table& required(const toml::table& document, std::string_view key, std::string_view what) const {
    const toml::table* const found = table(document, key);
    if (found == nullptr) reject(begin_of(document), fmt::format("'{}' is missing; write {}", key, what));
    return *found;
  }

  std::size_t begin_of(const toml::table& document) const {
    const auto all = entries(document);
    return all.empty() ? 0 : all.front().offset;
  }

  void require_at_most(std::size_t count, std::size_t most, std::size_t offset, std::string_view what) const {
    if (count > most) reject(offset, fmt::format("more than {} {}", most, what));
  }

  std::string identifier(const toml::table& from, std::string_view key, std::string_view what) const {
    const toml::node* const node = from.get(key);
    if (node == nullptr) reject(begin_of(from), fmt::format("'{}' is missing; write {}", key, what));
    const std::string name = string_or(from, key, "");
    require_identifier(name, offset_of(*node));
    return name;
  }

  void require_identifier(std::string_view name, std::size_t offset) const {
    if (!is_identifier(name)) reject(offset, fmt::format("'{}' is no identifier of C++", quotable(name)));
  }

  std::int64_t whole(const toml::node& node, std::string_view what) const {
    if (const auto value = node.value_exact<std::int64_t>()) return *value;
    reject(offset_of(node), fmt::format("{} must be a whole number of 64 bits", what));
  }

  /// A number as it stands, or an expression in quotes.
  WholeExpression whole_expression(std::string_view key, const toml::node& node,
                                   const std::vector<std::string>& known) const {
    if (const auto value = node.value_exact<std::int64_t>()) return WholeExpression(*value);
    return {expression(key, node), known};
  }

  WholeExpression required_expression(const toml::table& from, std::string_view key) const {
    const toml::node* const node = from.get(key);
    if (node == nullptr) reject(offset_of(from), fmt::format("'{}' is missing", key));
    return whole_expression(key, *node, size_names_);
  }

  // ---- names

  void declare(std::string_view name, std::size_t offset) {
    require_identifier(name, offset);
    const auto functions = whole_functions();
    if (std::find(functions.begin(), functions.end(), name) != functions.end()) {
      reject(offset, fmt::format("'{}' is a function of expressions; take another name", name));
    }
    if (std::find(all_names_.begin(), all_names_.end(), name) != all_names_.end()) {
      reject(offset, fmt::format("'{}' is a size already", name));
    }
    all_names_.emplace_back(name);
  }

  void sizes(const toml::table& document) {
    const toml::table* const sizes = table(document, "sizes");
    if (sizes == nullptr) return;
    require_at_most(sizes->size(), kUserKernelLimits.sizes, offset_of(*sizes), "sizes");
    for (const TomlEntry& entry : entries(*sizes)) {
      declare(entry.key, entry.offset);
      const std::int64_t value = whole(*entry.value, "a size");
      if (value < 0) reject(offset_of(*entry.value), "a size must not be negative");
      kernel_.sizes.push_back({std::string(entry.key), value});
    }
    size_names_ = all_names_;
  }

  void parameters(const toml::table& document) {
    const toml::table& parameters = required(document, "parameters", "[parameters] with NAME = [values]");
    require_at_most(parameters.size(), kUserKernelLimits.parameters, offset_of(parameters), "parameters");
    for (const TomlEntry& entry : entries(parameters)) {
      declare(entry.key, entry.offset);
      const toml::array* const list = entry.value->as_array();
      if (list == nullptr || list->empty()) {
        reject(offset_of(*entry.value), "a parameter's values must be a list, such as [16, 32]");
      }
      require_at_most(list->size(), kUserKernelLimits.values, offset_of(*entry.value), "values of a parameter");
      UserKernelParameter parameter{std::string(entry.key), {}};
      for (const toml::node& value : *list) parameter.values.push_back(whole(value, "a parameter's value"));
      std::sort(parameter.values.begin(), parameter.values.end());
      if (std::adjacent_find(parameter.values.begin(), parameter.values.end()) != parameter.values.end()) {
        reject(offset_of(*entry.value), "a value stands twice");
      }
      kernel_.parameters.push_back(std::move(parameter));
    }
    if (kernel_.parameters.empty()) reject(offset_of(parameters), "without parameters there is nothing to tune");
  }

  /// A value for each parameter. Those that depend on sizes are looked at when the sizes are known.
  void default_values(const toml::table& document) {
    const toml::table* const values = table(document, "default");
    if (values == nullptr) return;
    std::vector<std::string> names;
    for (const UserKernelParameter& parameter : kernel_.parameters) names.push_back(parameter.name);
    require_known(*values, names);
    for (const UserKernelParameter& parameter : kernel_.parameters) {
      const toml::node* const node = values->get(parameter.name);
      if (node == nullptr) reject(offset_of(*values), fmt::format("'{}' has no value in [default]", parameter.name));
      const auto number = node->value_exact<std::int64_t>();
      if (number && !std::binary_search(parameter.values.begin(), parameter.values.end(), *number)) {
        reject(offset_of(*node), fmt::format("{} is none of {}'s values, {}", *number, parameter.name,
                                             fmt::join(parameter.values, ", ")));
      }
      kernel_.default_values.push_back(whole_expression(parameter.name, *node, size_names_));
    }
  }

  void rules(const toml::table& document) {
    const toml::table* const rules = table(document, "rules");
    if (rules == nullptr) return;
    require_at_most(rules->size(), kUserKernelLimits.rules, offset_of(*rules), "rules");
    for (const TomlEntry& entry : entries(*rules)) {
      kernel_.rules.push_back({quotable(entry.key, 200), {expression(entry), all_names_}});
    }
  }

  // ---- launches

  std::vector<WholeExpression> extents(const toml::table& launch, std::string_view key,
                                       const std::vector<std::string>& known) const {
    const toml::node* const node = launch.get(key);
    if (node == nullptr) reject(offset_of(launch), fmt::format("'{}' is missing; write {}", key, kExample));
    if (node->as_array() == nullptr) return {whole_expression(key, *node, known)};
    const toml::array& list = *node->as_array();
    if (list.empty() || list.size() > 3) reject(offset_of(*node), fmt::format("'{}' has 1 to 3 expressions", key));
    std::vector<WholeExpression> expressions;
    for (const toml::node& each : list) expressions.push_back(whole_expression(key, each, known));
    return expressions;
  }

  LaunchExpressions launch(const toml::table& from, const std::vector<std::string>& known) const {
    LaunchExpressions launch{extents(from, "block", known), extents(from, "grid", known)};
    if (const toml::node* const bytes = from.get("shared_bytes")) {
      launch.shared_bytes = whole_expression("shared_bytes", *bytes, known);
    }
    return launch;
  }

  // ---- arguments

  void arguments(const toml::table& document) {
    const toml::node* const node = document.get("arguments");
    const toml::array* const list = node == nullptr ? nullptr : node->as_array();
    if (list == nullptr || list->empty()) {
      reject(node == nullptr ? begin_of(document) : offset_of(*node),
             "the arguments are missing; write [[arguments]] for each, in the kernel's order");
    }
    require_at_most(list->size(), kUserKernelLimits.arguments, offset_of(*node), "arguments");
    for (const toml::node& each : *list) {
      if (each.as_table() == nullptr) reject(offset_of(each), "write [[arguments]] in double brackets");
      kernel_.arguments.push_back(argument(*each.as_table()));
    }
    const auto is_compared = [](const KernelArgument& argument) { return argument.is_compared(); };
    if (std::none_of(kernel_.arguments.begin(), kernel_.arguments.end(), is_compared)) {
      reject(offset_of(*node),
             "no argument is an output: nothing could be compared; write output = true or inout = "
             "true for what the kernel writes");
    }
  }

  KernelArgument argument(const toml::table& from) const {
    KernelArgument argument;
    argument.name = identifier(from, "name", "name = \"...\"");
    std::string type = string_or(from, "type", "");
    if (from.get("type") == nullptr) reject(offset_of(from), "'type' is missing; write type = \"f32*\"");
    argument.is_array = type.ends_with('*');
    if (argument.is_array) type.pop_back();
    const auto found = find_cell_type(type);
    if (!found) {
      reject(offset_of(*from.get("type")),
             fmt::format("'{}' is no type; types are {}, with a * for an array{}", quotable(type),
                         fmt::join(cell_type_names(), ", "), did_you_mean(type, cell_type_names())));
    }
    argument.type = *found;
    argument.is_array ? array(from, argument) : value(from, argument);
    return argument;
  }

  void array(const toml::table& from, KernelArgument& argument) const {
    require_known(from, {"name", "type", "length", "fill", "output", "inout", "symbol"});
    argument.length = required_expression(from, "length");
    const bool output = flag(from, "output"), inout = flag(from, "inout");
    if (output && inout) reject(offset_of(from), "an argument is either output or inout");
    argument.role = output ? Role::output : inout ? Role::inout : Role::input;
    symbol(from, argument);
    const toml::node* const fill = from.get("fill");
    if (fill == nullptr) return;
    if (output) reject(offset_of(*fill), "an output is poisoned before a launch; with a fill it is inout = true");
    if (const auto number = fill->value<double>(); number && fill->is_number()) {
      require_representable(*number, argument.type, offset_of(*fill));
      argument.fill = Fill::number;
      argument.fill_number = *number;
      return;
    }
    const std::string word = string_or(from, "fill", "");
    const auto found = find_fill(word);
    if (!found) {
      reject(offset_of(*fill), fmt::format("'{}' is no fill; write one of {}, or a number{}", quotable(word),
                                           fmt::join(fill_names(), ", "), did_you_mean(word, fill_names())));
    }
    argument.fill = *found;
  }

  /// true: the symbol has the argument's name, and the kernel has no such parameter.
  void symbol(const toml::table& from, KernelArgument& argument) const {
    const toml::node* const node = from.get("symbol");
    if (node == nullptr) return;
    if (argument.role != Role::input) reject(offset_of(*node), "a symbol is an input: kernels cannot write to it");
    if (node->is_boolean()) {
      argument.is_parameter = !flag(from, "symbol");
      if (!argument.is_parameter) argument.symbol = argument.name;
    } else {
      argument.symbol = identifier(from, "symbol", "");
    }
  }

  void value(const toml::table& from, KernelArgument& argument) const {
    require_known(from, {"name", "type", "value"});
    const toml::node* const node = from.get("value");
    if (node == nullptr) {
      reject(offset_of(from),
             fmt::format("'value' is missing; '{}' is passed by value (an array's type ends with *)", argument.name));
    }
    if (const auto number = node->value<double>(); node->is_floating_point()) {
      require_representable(*number, argument.type, offset_of(*node));
      argument.number = number;
    } else {
      argument.value = whole_expression("value", *node, size_names_);
    }
  }

  void require_representable(double number, CellType type, std::size_t offset) const {
    if (!std::isfinite(number)) reject(offset, "a value must be finite");
    if (!is_floating(type) && number != std::floor(number)) {
      reject(offset, fmt::format("{} is no whole number", number));
    }
  }

  bool flag(const toml::table& from, std::string_view key) const {
    const toml::node* const node = from.get(key);
    if (node == nullptr) return false;
    if (const auto value = node->value_exact<bool>()) return *value;
    reject(offset_of(*node), fmt::format("'{}' must be true or false", key));
  }

  // ---- what it is checked against, and what is counted

  void reference(const toml::table& from) {
    require_known(from, {"kernel", "file", "block", "grid", "shared_bytes", "library", "function", "tolerance"});
    UserKernelReference& reference = kernel_.reference;
    const bool is_kernel = from.get("kernel") != nullptr;
    if (is_kernel == (from.get("library") != nullptr)) {
      reject(offset_of(from), "a reference is either a kernel or a library with a function");
    }
    if (is_kernel) {
      reference.kernel = identifier(from, "kernel", "");
      reference.file = string_or(from, "file", "");
      reference.launch = launch(from, size_names_);
      if (reference.kernel == kernel_.name && reference.file.empty()) {
        reject(offset_of(*from.get("kernel")), "a kernel is no reference for itself");
      }
    } else {
      reference.library = string_or(from, "library", "");
      reference.function = identifier(from, "function", "function = \"NAME\", of the library");
    }
    if (const toml::node* const node = from.get("tolerance")) {
      const auto tolerance = node->value<double>();
      if (!node->is_number() || !(*tolerance >= 0 && *tolerance < 1)) {
        reject(offset_of(*node), "the tolerance is a number from 0 to below 1");
      }
      reference.tolerance = *tolerance;
    }
  }

  void counts(const toml::table& document) {
    const toml::table* const counts = table(document, "counts");
    if (counts == nullptr) return;
    require_known(*counts, {"flops", "bytes"});
    if (counts->get("flops") != nullptr) kernel_.flops = whole_expression("flops", *counts->get("flops"), size_names_);
    if (counts->get("bytes") != nullptr) kernel_.bytes = whole_expression("bytes", *counts->get("bytes"), size_names_);
  }

  static constexpr std::string_view kExample = "block = [\"TILE\"] and grid = [\"ceil_div(n, TILE)\"]";

  UserKernel kernel_;
  std::vector<std::string> size_names_, all_names_;  ///< sizes; sizes and parameters
};

}  // namespace

UserKernelText parse_user_kernel(std::string_view text, std::string_view file) {
  const bool is_document = file.ends_with(".toml");
  const std::string document = is_document ? std::string(text) : definition_comment(text, file);
  UserKernelText parsed = UserKernelReader(file, text, document).run();
  if (is_document && parsed.source_file.empty()) {
    DefinitionText(file, text).reject(0, "'source' is missing; write source = \"FILE.cu\"");
  }
  if (!is_document) parsed.kernel.source = text;
  parsed.kernel.definition = text;
  parsed.kernel.definition_file = file;
  parsed.kernel.file = is_document ? parsed.source_file : std::string(file);
  return parsed;
}

}  // namespace stencil_tune
