#include "stencil_tune/stencil.hpp"

#include "generator/stencil/indices.hpp"
#include "generator/stencil/rewriting/carry_out.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <xxhash.h>

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace stencil_tune {
namespace {

std::uint64_t hash_text(const std::string& text) { return XXH3_64bits(text.data(), text.size()); }

/// A profile's axes as numbers, "0,2", or "t".
std::string along_numbers(Along along) {
  return along == kAlongTime ? "t" : fmt::format("{}", fmt::join(axes_of(along), ","));
}

/// What a node is along; empty for others.
std::string along_of(const Stencil& stencil, const Node& node) {
  switch (node.op) {
    case Operation::coordinate:
    case Operation::before:
    case Operation::after:
    case Operation::outside:
    case Operation::in_layer:
      return std::to_string(node.index);
    case Operation::profile:
      return along_numbers(profile_along(stencil, node.index));
    default:
      return "";
  }
}

/// What a canonical text tells apart: all but names and values, or not even what is the same in all cells.
enum class Detail { all, form };

/// The number that a node has and its operands do not say.
double number_in(const Node& node, Detail detail) {
  if (node.op == Operation::random) return detail == Detail::all ? node.value : 0;
  return node.op == Operation::number ? node.value : 0;
}

/// Whether each node is to be written as a number, whatever it is made of.
std::vector<bool> plain_numbers(const Stencil& stencil, Detail detail) {
  std::vector<bool> numbers(stencil.nodes.size(), false);
  if (detail == Detail::all) return numbers;
  for (std::size_t id = 0; id < numbers.size(); ++id) {
    const Node& node = stencil.nodes[id];
    numbers[id] = node.op == Operation::number || node.op == Operation::coefficient || operand_count(node.op) > 0;
    for (int i = 0; i < operand_count(node.op); ++i) numbers[id] = numbers[id] && numbers[at(node.operands[at(i)])];
  }
  return numbers;
}

/// A hash of each node's structure that knows no names, fields or coefficients: it orders the operands of commuting
/// operations, so that a*b and b*a are one.
std::vector<std::uint64_t> structure_hashes(const Stencil& stencil, const std::vector<bool>& plain_numbers,
                                            Detail detail) {
  std::vector<std::uint64_t> hashes;
  hashes.reserve(stencil.nodes.size());
  for (const Node& node : stencil.nodes) {
    std::array<std::uint64_t, 3> operands{};
    for (int i = 0; i < operand_count(node.op); ++i) operands[at(i)] = hashes[at(node.operands[at(i)])];
    if (commutes(node.op) && operands[0] > operands[1]) std::swap(operands[0], operands[1]);
    if (plain_numbers[hashes.size()]) {
      hashes.push_back(0);
      continue;
    }
    std::string text = fmt::format("{} {} {} {}", name(node.op), number_in(node, detail), fmt::join(node.offset, ","),
                                   fmt::join(operands, " "));
    if (const std::string along = along_of(stencil, node); !along.empty()) text += " " + along;  // axes are no names
    hashes.push_back(hash_text(text));
  }
  return hashes;
}

/// Writes one line a node, operands first; nodes, fields and coefficients are numbered by first appearance.
class CanonicalWriter {
 public:
  explicit CanonicalWriter(const Stencil& stencil, Detail detail = Detail::all)
      : stencil_(stencil),
        detail_(detail),
        plain_numbers_(plain_numbers(stencil, detail)),
        hashes_(structure_hashes(stencil, plain_numbers_, detail)),
        numbers_(stencil.nodes.size(), -1) {}

  std::string write(std::span<const Stage> stages) {
    text_ = fmt::format("rank {}\n", stencil_.rank);
    for (const Stage& stage : stages) {
      text_ += "stage\n";
      for (const Update& update : stage.updates) {
        write_expression(update.expression);
        text_ += fmt::format("f{} = t{}\n", number(fields_, update.output), numbers_[at(update.expression)]);
      }
    }
    for (const Rotation& rotation : stencil_.rotations) {
      text_ += fmt::format("f{} becomes f{}\n", number(fields_, rotation.from), number(fields_, rotation.to));
    }
    for (const Hold& hold : stencil_.holds) {
      text_ += fmt::format("f{} holds layers of f{}\n", number(fields_, hold.field), number(fields_, hold.layers_of));
    }
    std::map<int, ElementType> stored;  // by the number that a field has here
    for (const FieldStorage& storage : stencil_.storages) {
      if (fields_.contains(storage.field)) stored.emplace(fields_.at(storage.field), storage.type);
    }
    for (const auto& [field, type] : stored) text_ += fmt::format("f{} stored as {}\n", field, name(type));
    return std::move(text_);
  }

 private:
  static int number(std::map<int, int>& numbers, int index) {
    return numbers.emplace(index, static_cast<int>(numbers.size())).first->second;
  }

  std::array<NodeId, 3> ordered_operands(const Node& node) const {
    std::array<NodeId, 3> operands = node.operands;
    if (commutes(node.op) && hashes_[at(operands[0])] > hashes_[at(operands[1])]) std::swap(operands[0], operands[1]);
    return operands;
  }

  /// Depth first with a stack of its own: a sum of thousands of taps is thousands deep.
  void write_expression(NodeId root) {
    std::vector<NodeId> open{root};
    while (!open.empty()) {
      const NodeId id = open.back();
      if (numbers_[at(id)] >= 0) {
        open.pop_back();
        continue;
      }
      const Node& node = stencil_.nodes[at(id)];
      const std::array<NodeId, 3> operands = ordered_operands(node);
      const std::size_t before = open.size();
      for (int i = operand_count(node.op) - 1; i >= 0; --i) {
        if (numbers_[at(operands[at(i)])] < 0) open.push_back(operands[at(i)]);
      }
      if (open.size() > before) continue;
      open.pop_back();
      if (plain_numbers_[at(id)]) {
        numbers_[at(id)] = 0;  // written where it is used
        continue;
      }
      numbers_[at(id)] = count_++;
      text_ += fmt::format("t{} = {}\n", numbers_[at(id)], right_side(node, operands));
    }
  }

  std::string right_side(const Node& node, const std::array<NodeId, 3>& operands) {
    switch (node.op) {
      case Operation::number:
        return fmt::format("{}", node.value);
      case Operation::coefficient:
        return fmt::format("c{}", number(coefficients_, node.index));
      case Operation::read:
        return fmt::format("f{}[{}]", number(fields_, node.index), fmt::join(node.offset, ","));
      case Operation::coordinate:
        return fmt::format("x{}[{}]", node.index, node.offset[at(node.index)]);
      case Operation::before:
      case Operation::after:
      case Operation::outside:
      case Operation::in_layer:
        return fmt::format("{} {}[{}]", name(node.op), node.index, node.offset[at(node.index)]);
      case Operation::profile: {
        const Along along = profile_along(stencil_, node.index);
        std::vector<int> offsets;
        for (const int axis : axes_of(along)) offsets.push_back(node.offset[at(axis)]);
        return fmt::format("f{} along {}[{}]", number(fields_, node.index), along_numbers(along),
                           fmt::join(offsets, ","));
      }
      case Operation::random: {
        const std::string seed = node.index < 0 ? "" : fmt::format(" c{}", number(coefficients_, node.index));
        return fmt::format("random {}{}[{}]", number_in(node, detail_), seed, fmt::join(node.offset, ","));
      }
      default:
        break;
    }
    std::string text(name(node.op));
    for (int i = 0; i < operand_count(node.op); ++i) {
      const std::size_t operand = at(operands[at(i)]);
      text += plain_numbers_[operand] ? " number" : fmt::format(" t{}", numbers_[operand]);
    }
    return text;
  }

  const Stencil& stencil_;
  Detail detail_;
  std::vector<bool> plain_numbers_;
  std::vector<std::uint64_t> hashes_;
  std::vector<int> numbers_;
  int count_ = 0;
  std::map<int, int> fields_;
  std::map<int, int> coefficients_;
  std::string text_;
};

/// The taps of each field that a linear update of one output reads, and what becomes of the field after the step.
std::string form_of_taps(const Stencil& stencil, const StageFacts& facts) {
  std::map<int, std::string> taps;
  for (const Tap& tap : facts.taps) taps[tap.field] += fmt::format(" [{}]", fmt::join(tap.offset, ","));
  std::multiset<std::string> fields;  // in no order of their own
  for (const auto& [field, own] : taps) {
    std::string text = own;
    for (const FieldStorage& storage : stencil.storages) {
      if (storage.field == field) text += fmt::format(" {}", name(storage.type));
    }
    for (const Rotation& rotation : stencil.rotations) {
      if (rotation.to != field) continue;
      const auto from = taps.find(rotation.from);
      text += rotation.from == facts.outputs.front() ? ", then the output" : ", then";
      if (from != taps.end()) text += from->second;
    }
    fields.insert(text);
  }
  std::string output;
  for (const FieldStorage& storage : stencil.storages) {
    if (storage.field == facts.outputs.front()) output = fmt::format("\noutput {}", name(storage.type));
  }
  return fmt::format("rank {} linear\n{}{}", stencil.rank, fmt::join(fields, "\n"), output);
}

}  // namespace

std::string canonical_text(const Stencil& stencil) { return CanonicalWriter(stencil).write(stencil.stages); }

std::string stencil_form(const Stencil& stencil, int stage) {
  std::span<const Stage> stages = stencil.stages;
  const bool is_whole = stage < 0;
  if (!is_whole || stages.size() == 1) {
    const StageFacts facts = analyse(stencil, is_whole ? 0 : stage);
    if (facts.linear && facts.outputs.size() == 1 && !facts.placed) {
      return fmt::format("{:016x}", hash_text(form_of_taps(stencil, facts)));
    }
    stages = stages.subspan(at(is_whole ? 0 : stage), 1);
  }
  return fmt::format("{:016x}", hash_text(CanonicalWriter(stencil, Detail::form).write(stages)));
}

std::string stencil_key(const Stencil& stencil) {
  const std::string text = canonical_text(stencil);
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

}  // namespace stencil_tune
