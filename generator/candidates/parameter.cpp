#include "generator/candidates/parameter.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace stencil_tune {

Parameter Parameter::coded_always() && {
  always_coded = true;
  return std::move(*this);
}

Parameter Parameter::found_by_neighbours_alone() && {
  drawn = false;
  return std::move(*this);
}

Parameter Parameter::with_neighbours(int on_each_side) && {
  nearby = on_each_side;
  return std::move(*this);
}

Parameter Parameter::where(std::function<bool(const Tuning&)> is_used) && {
  used = std::move(is_used);
  return std::move(*this);
}

Parameter Parameter::within(PossibleValues rule) && {
  possible = std::move(rule);
  return std::move(*this);
}

Parameter Parameter::as(std::string_view type, std::string_view its_name, std::vector<std::string_view> of_values) && {
  constant_type = type;
  constant = its_name;
  constants = std::move(of_values);
  return std::move(*this);
}

Parameter Parameter::without_constant() && {
  constant_type = {};
  return std::move(*this);
}

Parameter Parameter::given_at_launch() && {
  of_launch = true;
  return std::move(*this).without_constant();
}

Parameter Parameter::given_at_launch_unless_default() && {
  default_apart = true;
  return std::move(*this).given_at_launch();
}

Parameter number(std::string_view name, std::string_view prefix, int TuningValues::*member, std::string_view constant,
                 std::vector<int> values, std::string_view meaning) {
  Parameter parameter{};
  parameter.name = name;
  parameter.meaning = meaning;
  parameter.prefix = prefix;
  parameter.values = std::move(values);
  parameter.default_value = TuningValues{}.*member;
  parameter.get = [member](const Tuning& tuning) { return tuning.*member; };
  parameter.set = [member](Tuning& tuning, int value) { tuning.*member = value; };
  parameter.constant_type = "int";
  parameter.constant = constant;
  return parameter;
}

Parameter choice(std::string_view name, std::function<int(const Tuning&)> get, std::function<void(Tuning&, int)> set,
                 const std::vector<Word>& words, int default_value, std::string_view meaning) {
  Parameter parameter{};
  parameter.name = name;
  parameter.meaning = meaning;
  parameter.default_value = default_value;
  parameter.get = std::move(get);
  parameter.set = std::move(set);
  for (const Word& each : words) {
    parameter.values.push_back(each.value);
    parameter.words.push_back(each.word);
    parameter.word_meanings.push_back(each.meaning);
  }
  return parameter;
}

std::string part(const Parameter& parameter, int value) {
  if (!parameter.is_word()) return fmt::format("{}{}", parameter.prefix, value);
  return std::string(parameter.words.at(static_cast<std::size_t>(value)));
}

std::string constant_text(const Parameter& parameter, int value) {
  if (parameter.constant_type.empty()) return {};
  const std::string text = parameter.constants.empty()
                               ? std::to_string(value)
                               : std::string(parameter.constants.at(static_cast<std::size_t>(value)));
  return fmt::format("  static constexpr {} {} = {};\n", parameter.constant_type, parameter.constant, text);
}

// ---- rows that several families have --------------------------------------------------------------------------------

namespace {

/// One value on an axis that the kernel does not have.
PossibleValues where_the_kernel_has(std::size_t axis) {
  return [axis](std::vector<int> values, const Problem&, const Limits&, const KernelAxes& axes) {
    return axes.has(axis) ? values : std::vector<int>{1};
  };
}

}  // namespace

Parameter threads_in_x(std::vector<int> values) {
  return number("threads in x", "bx", &Tuning::block_x, "kBlockX", std::move(values),
                "threads of a block along x, the contiguous axis")
      .coded_always();
}

Parameter threads_in_y(std::vector<int> values) {
  return number("threads in y", "by", &Tuning::block_y, "kBlockY", std::move(values), "threads of a block along y")
      .coded_always()
      .within(where_the_kernel_has(1));
}

Parameter threads_in_z() {
  return number("threads in z", "bz", &Tuning::block_z, "kBlockZ", {1, 2, 4, 8}, "threads of a block along z")
      .within(where_the_kernel_has(2));
}

Parameter register_tile_in_x(std::vector<int> values) {
  return number("register tile in x", "rx", &Tuning::register_x, "kRegisterX", std::move(values),
                "neighbouring outputs a thread holds along x");
}

Parameter register_tile_in_y(std::vector<int> values) {
  return number("register tile in y", "ry", &Tuning::register_y, "kRegisterY", std::move(values),
                "outputs a thread holds along y")
      .within(where_the_kernel_has(1));
}

Parameter register_tile_in_z() {
  return number("register tile in z", "rz", &Tuning::register_z, "kRegisterZ", {1, 2, 4},
                "outputs a thread holds along z")
      .within(where_the_kernel_has(2));
}

Parameter vector_of_cells() {
  return number("vector", "v", &Tuning::vector, "kVector", {1, 2, 4, 8}, "cells that one global load or store moves")
      .within([](std::vector<int> values, const Problem& problem, const Limits&, const KernelAxes&) {
        std::erase_if(values, [&](int vector) {
          return static_cast<std::size_t>(vector) * widest_cell_bytes(problem) > 16 || problem.pitch % vector != 0;
        });
        return values;
      });
}

Parameter cluster_of_blocks() {
  return number("cluster", "cl", &Tuning::cluster, "kCluster", {1, 2, 4, 8},
                "blocks of a thread block cluster, which one GPC runs (sm_90+): neighbouring tiles")
      .within([](std::vector<int> values, const Problem&, const Limits& limits, const KernelAxes&) {
        return limits.has_clusters() ? values : std::vector<int>{1};
      });
}

Parameter block_rasterization() {
  return word<BlockOrder>(
             "block rasterization", &Tuning::order,
             {{BlockOrder::natural, "natural", "x fastest, then y, then z"},
              {BlockOrder::z_first, "zfirst", "z fastest, then x, then y"},
              {BlockOrder::raster, "raster", "strips of 8 tiles in y, one after the other, z inside a strip"},
              {BlockOrder::raster32, "raster32", "strips of 32 tiles"}},
             "how block numbers visit the tiles")
      .as("stencil_tune::BlockOrder", "kOrder",
          {"stencil_tune::BlockOrder::natural", "stencil_tune::BlockOrder::z_first", "stencil_tune::BlockOrder::raster",
           "stencil_tune::BlockOrder::raster32"});
}

Parameter load_hint() {
  return word<LoadHint>("load hint", &Tuning::load,
                        {{LoadHint::cached, "ldca", "cached in L1 and L2"},
                         {LoadHint::read_only, "ldro", "through the read-only path"},
                         {LoadHint::l2_only, "ldcg", "cached in L2 only"}},
                        "how global loads are cached")
      .as("stencil_tune::LoadHint", "kLoad",
          {"stencil_tune::LoadHint::cached", "stencil_tune::LoadHint::read_only", "stencil_tune::LoadHint::l2_only"});
}

Parameter store_hint() {
  return word<StoreHint>("store hint", &Tuning::store,
                         {{StoreHint::write_back, "stwb", "write-back"},
                          {StoreHint::streaming, "stcs", "streaming: first to leave the cache"}},
                         "how global stores are cached")
      .as("stencil_tune::StoreHint", "kStore",
          {"stencil_tune::StoreHint::write_back", "stencil_tune::StoreHint::streaming"});
}

Parameter neighbours_in_x() {
  return word<Neighbours>("neighbours in x", &Tuning::neighbours,
                          {{Neighbours::cache, "ncache", "through the cache"},
                           {Neighbours::shuffle, "shfl", "from the neighbouring lanes, by warp shuffles"}},
                          "how a thread gets the cells left and right of its own")
      .as("stencil_tune::Neighbours", "kNeighbours",
          {"stencil_tune::Neighbours::cache", "stencil_tune::Neighbours::shuffle"});
}

Parameter kept_between_planes() {
  return word<Keeps>("kept between planes", &Tuning::keeps,
                     {{Keeps::cells, "cells", "the cells that later outputs read again"},
                      {Keeps::sums, "sums",
                       "partial sums of the outputs that a plane contributes to; the plane itself is then done with"}},
                     "what a walking thread keeps of the planes it has passed")
      .without_constant();
}

Parameter prefetch_distance(std::vector<int> values) {
  return number("prefetch distance", "pf", &Tuning::prefetch, "kPrefetch", std::move(values),
                "planes on their way beyond those in use: to registers, or to shared memory")
      .with_neighbours(2);  // a walk one plane ahead is often slower, two planes ahead faster
}

Parameter unrolled_iterations(std::vector<int> values) {
  return number("unroll", "u", &Tuning::unroll, "kUnroll", std::move(values),
                "iterations of the walk unrolled together");
}

Parameter covered_tile() {
  Parameter row =
      word<Cover>("cover", &Tuning::cover,
                  {{Cover::output, "cout", "the output tile; the halo is loaded in a loop"},
                   {Cover::input, "cin", "the input tile; the outer threads idle while computing (textbook)"}},
                  "which tile the threads cover one to one")
          .as("stencil_tune::Cover", "kCover", {"stencil_tune::Cover::output", "stencil_tune::Cover::input"});
  row.values = {static_cast<int>(Cover::output)};  // the textbook's never wins
  return row;
}

Parameter blocks_per_sm() {
  return number("blocks per SM", "mb", &Tuning::min_blocks, {}, {0, 1, 2, 3, 4, 6, 8, 12, 16},
                "resident blocks per SM promised to the compiler, which limits registers; 0 leaves it free")
      .within([](std::vector<int> values, const Problem&, const Limits& limits, const KernelAxes&) {
        std::erase_if(values, [&](int blocks) { return blocks > limits.max_blocks_per_sm; });
        return values;
      })
      .without_constant();  // __launch_bounds__ says it
}

}  // namespace stencil_tune
