#include "generator/candidates/tuning.hpp"

#include "generator/suggest.hpp"
#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <ostream>

namespace stencil_tune {
namespace {

constexpr std::array kFamilies{Family::direct, Family::tiled, Family::streaming, Family::temporal};

enum class Coded { when_not_default, always };

Parameter number(std::string_view name, std::string_view prefix, int Tuning::*member, std::vector<int> values,
                 Coded coded, const std::vector<Family>& families, std::string_view meaning,
                 std::vector<Planes> planes = {}) {
  return {.name = name,
          .prefix = prefix,
          .words = {},
          .word_meanings = {},
          .values = std::move(values),
          .default_value = Tuning{}.*member,
          .always_coded = coded == Coded::always,
          .families = families,
          .planes = std::move(planes),
          .meaning = meaning,
          .get = [member](const Tuning& tuning) { return tuning.*member; },
          .set = [member](Tuning& tuning, int value) { tuning.*member = value; }};
}

struct Word {
  std::string_view word;
  std::string_view meaning;
};

template <class Enum>
Parameter word(std::string_view name, Enum Tuning::*member, const std::vector<Word>& choices, Coded coded,
               const std::vector<Family>& families, const std::vector<Planes>& planes, std::string_view meaning) {
  Parameter parameter{.name = name,
                      .prefix = {},
                      .words = {},
                      .word_meanings = {},
                      .values = {},
                      .default_value = static_cast<int>(Tuning{}.*member),
                      .always_coded = coded == Coded::always,
                      .families = families,
                      .planes = planes,
                      .meaning = meaning,
                      .get = [member](const Tuning& tuning) { return static_cast<int>(tuning.*member); },
                      .set = [member](Tuning& tuning, int value) { tuning.*member = static_cast<Enum>(value); }};
  for (const Word& choice : choices) {
    parameter.values.push_back(static_cast<int>(parameter.words.size()));
    parameter.words.push_back(choice.word);
    parameter.word_meanings.push_back(choice.meaning);
  }
  return parameter;
}

// Words and prefixes are unique over the whole table, so that a part of a code needs no context.
std::vector<Parameter> make_table() {
  using enum Coded;
  const std::vector<Family> all{Family::direct, Family::tiled, Family::streaming, Family::temporal};
  const std::vector<Family> sweep{Family::direct, Family::tiled, Family::streaming};
  const std::vector<Family> direct_tiled{Family::direct, Family::tiled};
  const std::vector<Family> tiled_streaming{Family::tiled, Family::streaming};
  const std::vector<Family> direct_streaming{Family::direct, Family::streaming};
  const std::vector<Family> streaming{Family::streaming};
  const std::vector<Family> walking{Family::streaming, Family::temporal};
  const std::vector<Family> temporal{Family::temporal};
  const std::vector<Planes> any_planes{};
  const std::vector<Planes> planes_in_shared{Planes::shared, Planes::mixed};
  const std::vector<Planes> planes_in_registers{Planes::registers};
  const std::vector<Planes> planes_ahead{Planes::registers, Planes::ring};
  const std::vector<Planes> planes_in_ring{Planes::ring};
  const std::vector<Planes> planes_by_threads{Planes::shared, Planes::mixed, Planes::registers};
  return {
      number("threads in x", "bx", &Tuning::block_x, {8, 16, 32, 64, 128, 256, 512}, always, all,
             "threads of a block along x, the contiguous axis"),
      number("threads in y", "by", &Tuning::block_y, {1, 2, 4, 8, 12, 16, 32}, always, all,
             "threads of a block along y"),
      number("threads in z", "bz", &Tuning::block_z, {1, 2, 4, 8}, when_not_default, direct_tiled,
             "threads of a block along z"),
      number("register tile in x", "rx", &Tuning::register_x, {1, 2, 3, 4, 6, 8, 12}, when_not_default, all,
             "neighbouring outputs a thread holds along x"),
      number("register tile in y", "ry", &Tuning::register_y, {1, 2, 4, 8}, when_not_default, all,
             "outputs a thread holds along y"),
      number("register tile in z", "rz", &Tuning::register_z, {1, 2, 4}, when_not_default, direct_tiled,
             "outputs a thread holds along z"),
      number("vector", "v", &Tuning::vector, {1, 2, 4, 8}, when_not_default, all,
             "cells that one global load or store moves"),
      number("coarsening depth", "cz", &Tuning::depth, {1, 2, 4, 8, 16, 32, 64, 128, 256, 512}, always, streaming,
             "outputs a thread walks along the last axis"),
      word("planes", &Tuning::planes,
           {{"shared", "all planes with their halo in shared memory (textbook thread coarsening)"},
            {"mixed", "the current plane in shared memory, the others in registers (textbook register tiling)"},
            {"regs", "a thread's own rows in registers, neighbouring rows through the cache"},
            {"ring", "planes brought to shared memory ahead of the walk, own column in registers"}},
           always, streaming, any_planes, "where the planes within reach live during the walk"),
      word("kept between planes", &Tuning::keeps,
           {{"cells", "the cells that later outputs read again"},
            {"sums", "partial sums of the outputs that a plane contributes to; the plane itself is then done with"}},
           when_not_default, walking, planes_ahead, "what a walking thread keeps of the planes it has passed"),
      word("loop of sums", &Tuning::sums_loop,
           {{"turn", "a turn of as many steps as sums are under way, after which each is back in its registers"},
            {"step", "one step, which a small instruction cache holds; sums move as they are added to"}},
           when_not_default, streaming, planes_ahead, "how much of a walk with sums one iteration of its loop is"),
      word("copies", &Tuning::copies,
           {{"tma", "the copy engine, a plane a request (sm_90+)"},
            {"cpasync", "the block's threads, by asynchronous copies of a few bytes (sm_80+)"}},
           when_not_default, streaming, planes_in_ring, "who brings planes to the ring"),
      word("copies of rows", &Tuning::row_copies,
           {{"tmarows", "the copy engine, a warp's rows of a plane a request (sm_90+)"},
            {"cprows", "the warp's lanes, by asynchronous copies of a few bytes (sm_80+)"}},
           when_not_default, temporal, any_planes, "who brings a warp the rows that it reads"),
      number("prefetch distance", "pf", &Tuning::prefetch, {0, 1, 2, 3, 4, 6, 8}, when_not_default, walking,
             "planes on their way beyond those in use: to registers, or to shared memory", planes_ahead),
      number("tiles a block", "tb", &Tuning::tiles, {1, 2, 4, 8, 16, 32}, when_not_default, streaming,
             "tiles that a block takes one after the other, with planes of the next on their way", planes_in_ring),
      number("fused steps", "t", &Tuning::steps, {2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32}, always, temporal,
             "sweeps that a launch makes in one pass over memory"),
      number("chunks", "ch", &Tuning::chunks,
             {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 16, 17, 19, 21, 23, 26, 29, 32, 35, 40, 48}, when_not_default,
             temporal, "parts of the last axis that blocks of their own walk"),
      number("planes in shared memory", "sp", &Tuning::shared_planes, {0, 1, 2, 3, 4}, when_not_default, temporal,
             "planes, the oldest of those that a level holds from step to step, that wait in shared memory; the others "
             "wait "
             "in registers"),
      number("groups of steps", "tg", &Tuning::groups, {1, 2, 3, 4, 6, 8}, when_not_default, temporal,
             "groups of warps that share the fused steps out, each passing planes on to the next"),
      word("barrier", &Tuning::barrier,
           {{"meet", "all of them between two steps"},
            {"split", "each says within a step that its cells are there, and waits when the next begins (sm_90+)"}},
           when_not_default, temporal, any_planes, "how the warps of a block wait for each other from step to step"),
      number("cluster", "cl", &Tuning::cluster, {1, 2, 4, 8}, when_not_default, all,
             "blocks that run in one group of SMs (sm_90+): neighbouring tiles; of fused steps the parts of one tile, "
             "which send each other the rows at their seams"),
      word("halo", &Tuning::halo, {{"hshared", "shared memory"}, {"hcache", "the cache"}}, when_not_default,
           tiled_streaming, planes_in_shared, "where reads outside the output tile are served from"),
      word("cover", &Tuning::cover,
           {{"cout", "the output tile; the halo is loaded in a loop"},
            {"cin", "the input tile; the outer threads idle while computing (textbook)"}},
           when_not_default, tiled_streaming, planes_in_shared, "which tile the threads cover one to one"),
      word("neighbours in x", &Tuning::neighbours,
           {{"ncache", "through the cache"}, {"shfl", "from the neighbouring lanes, by warp shuffles"}},
           when_not_default, direct_streaming, planes_in_registers,
           "how a thread gets the cells left and right of its own"),
      word("order of blocks", &Tuning::order,
           {{"natural", "x fastest, then y, then z"},
            {"zfirst", "z fastest, then x, then y"},
            {"raster", "strips of 8 tiles in y, one after the other, z inside a strip"},
            {"raster32", "strips of 32 tiles"}},
           when_not_default, all, any_planes, "how block numbers visit the tiles"),
      word("load hint", &Tuning::load,
           {{"ldca", "cached in L1 and L2"}, {"ldro", "through the read-only path"}, {"ldcg", "cached in L2 only"}},
           when_not_default, sweep, planes_by_threads, "how global loads are cached"),
      word("store hint", &Tuning::store, {{"stwb", "write-back"}, {"stcs", "streaming: first to leave the cache"}},
           when_not_default, all, any_planes, "how global stores are cached"),
      number("unroll", "u", &Tuning::unroll, {1, 2, 3, 4}, when_not_default, walking,
             "iterations of the walk unrolled together"),
      number("blocks per SM", "mb", &Tuning::min_blocks, {0, 1, 2, 3, 4, 6, 8, 12, 16}, when_not_default, all,
             "resident blocks per SM promised to the compiler, which limits registers; 0 leaves it free"),
  };
}

std::string describe(std::string_view code) { return fmt::format("candidate code '{}'", code.substr(0, 120)); }

[[noreturn]] void malformed(std::string_view code, const std::string& what) {
  throw Error(ErrorCode::malformed_code, fmt::format("{}: {}", describe(code), what));
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Every word and, for numbers, the prefix followed by what the user wrote after it.
std::vector<std::string> spellings(std::string_view digits) {
  std::vector<std::string> result;
  for (const Parameter& parameter : parameters()) {
    if (!parameter.is_word()) result.push_back(fmt::format("{}{}", parameter.prefix, digits.empty() ? "1" : digits));
    for (std::string_view spelling : parameter.words) result.emplace_back(spelling);
  }
  return result;
}

[[noreturn]] void unknown_part(std::string_view code, std::string_view part) {
  const auto digits = std::find_if(part.begin(), part.end(), is_digit);
  const std::string_view number(part.data() + (digits - part.begin()), static_cast<std::size_t>(part.end() - digits));
  const bool numeric = !number.empty() && std::all_of(number.begin(), number.end(), is_digit);
  malformed(code, fmt::format("'{}' is no tuning parameter{}", part,
                              did_you_mean(part, spellings(numeric ? number : std::string_view{}))));
}

/// The number after a prefix: decimal digits without sign or leading zero.
int parse_number(std::string_view code, std::string_view part, const Parameter& parameter) {
  const std::string_view digits = part.substr(parameter.prefix.size());
  if (digits.empty()) malformed(code, fmt::format("'{}' ({}) lacks its number", part, parameter.name));
  if (!std::all_of(digits.begin(), digits.end(), is_digit)) {
    malformed(code, fmt::format("'{}' ({}) must end in a positive whole number", part, parameter.name));
  }
  int value = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (status != std::errc{} || value > kLargestNumber) {
    malformed(code, fmt::format("'{}' ({}) is larger than {}", part, parameter.name, kLargestNumber));
  }
  const int smallest = std::min(parameter.values.front(), 1);  // 0 only where it has a meaning
  if (value < smallest) malformed(code, fmt::format("'{}' ({}) must be at least {}", part, parameter.name, smallest));
  if (digits.size() > 1 && digits.front() == '0') {
    malformed(code,
              fmt::format("'{}' ({}) has leading zeros; write '{}{}'", part, parameter.name, parameter.prefix, value));
  }
  return value;
}

struct Setting {
  const Parameter* parameter;
  int value;
};

Setting parse_part(std::string_view code, std::string_view part) {
  if (part.empty()) malformed(code, "it has an empty part: parts are separated by single dots");
  for (const Parameter& parameter : parameters()) {
    const auto spelled = std::find(parameter.words.begin(), parameter.words.end(), part);
    if (spelled != parameter.words.end()) return {&parameter, static_cast<int>(spelled - parameter.words.begin())};
  }
  // A prefix ends where the number, or what stands in its place, begins: "by-4" is about by.
  const auto letters_end = std::find_if(part.begin(), part.end(), [](char c) { return c < 'a' || c > 'z'; });
  const std::string_view letters = part.substr(0, static_cast<std::size_t>(letters_end - part.begin()));
  for (const Parameter& parameter : parameters()) {
    if (!parameter.is_word() && parameter.prefix == letters) return {&parameter, parse_number(code, part, parameter)};
  }
  unknown_part(code, part);
}

Family parse_family(std::string_view code, std::string_view text) {
  std::vector<std::string> names;
  for (Family family : kFamilies) {
    if (name(family) == text) return family;
    names.emplace_back(name(family));
  }
  malformed(code, fmt::format("it must begin with a kernel family ({}), not '{}'{}", fmt::join(names, ", "), text,
                              did_you_mean(text, names)));
}

/// Cuts the text before the next dot off `rest`; nothing is left after the last part.
std::string_view next_part(std::string_view& rest, bool& more) {
  const std::size_t dot = rest.find('.');
  more = dot != std::string_view::npos;
  const std::string_view part = rest.substr(0, dot);
  rest = more ? rest.substr(dot + 1) : std::string_view{};
  return part;
}

}  // namespace

bool Parameter::used_by(Family family) const {
  return std::find(families.begin(), families.end(), family) != families.end();
}

bool Parameter::used_by(const Tuning& tuning) const {
  if (!used_by(tuning.family)) return false;
  if (tuning.family != Family::streaming || planes.empty()) return true;
  return std::find(planes.begin(), planes.end(), tuning.planes) != planes.end();
}

std::span<const Parameter> parameters() {
  static const std::vector<Parameter> table = make_table();
  return table;
}

int differences(const Tuning& a, const Tuning& b) {
  const auto differs = [&](const Parameter& parameter) { return parameter.get(a) != parameter.get(b); };
  return static_cast<int>(std::count_if(parameters().begin(), parameters().end(), differs));
}

std::string part(const Parameter& parameter, int value) {
  if (!parameter.is_word()) return fmt::format("{}{}", parameter.prefix, value);
  return std::string(parameter.words.at(static_cast<std::size_t>(value)));
}

std::string_view name(Family family) noexcept {
  switch (family) {
    case Family::direct:
      return "direct";
    case Family::tiled:
      return "tiled";
    case Family::streaming:
      return "streaming";
    case Family::temporal:
      return "temporal";
  }
  return "unknown";
}

std::span<const Family> families() { return kFamilies; }

std::string code(const Tuning& tuning) {
  std::string text(name(tuning.family));
  for (const Parameter& parameter : parameters()) {
    if (!parameter.used_by(tuning.family)) continue;
    const int value = parameter.get(tuning);
    if (!parameter.always_coded && value == parameter.default_value) continue;
    text += '.';
    text += part(parameter, value);
  }
  return text;
}

std::ostream& operator<<(std::ostream& out, const Tuning& tuning) { return out << code(tuning); }

Tuning parse_code(std::string_view text) {
  std::string_view rest = text;
  bool more = false;
  Tuning tuning;
  tuning.family = parse_family(text, next_part(rest, more));
  std::vector<const Parameter*> seen;
  while (more) {
    const std::string_view part = next_part(rest, more);
    const Setting setting = parse_part(text, part);
    if (!setting.parameter->used_by(tuning.family)) {
      malformed(text, fmt::format("'{}' ({}) is no parameter of family {}", part, setting.parameter->name,
                                  name(tuning.family)));
    }
    if (std::find(seen.begin(), seen.end(), setting.parameter) != seen.end()) {
      malformed(text, fmt::format("'{}' gives {} a second value", part, setting.parameter->name));
    }
    seen.push_back(setting.parameter);
    setting.parameter->set(tuning, setting.value);
  }
  return tuning;
}

}  // namespace stencil_tune
