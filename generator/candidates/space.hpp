// The candidate space of a problem: every combination of parameter values, enumerated lazily.
#pragma once

#include "generator/candidates/constraints.hpp"
#include "generator/candidates/family.hpp"

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

namespace stencil_tune {

/// A view on problem and limits, which must outlive it. Candidates are numbered 0..size(): a mixed-radix number over
/// the values of each family's parameters, family after family; most are illegal, at() says which are not.
class Space {
 public:
  Space(const Problem& problem, const Limits& limits);
  /// One family alone: made in microseconds, since nothing is drawn to find out whether it has legal candidates.
  Space(const Problem& problem, const Limits& limits, const Family& family);
  Space(const Problem& problem, Limits&& limits) = delete;
  Space(Problem&& problem, const Limits& limits) = delete;

  std::uint64_t size() const noexcept;

  /// The candidate of this number; nothing when it is not legal.
  std::optional<Tuning> at(std::uint64_t number) const;

  /// A legal candidate drawn uniformly over the families that are drawn from, then over those of the family, in
  /// which parameters that are not used or not drawn take their defaults; nothing after 100000 misses. Families
  /// in which as many draws found none that is legal when the space was made are left out.
  std::optional<Tuning> sample(std::mt19937_64& random) const;

  /// A legal candidate of one family, drawn from or not.
  std::optional<Tuning> sample(const Family& family, std::mt19937_64& random) const;

  /// Legal candidates that differ from this one in one parameter by one place in its list of values
  /// (words: any other value).
  std::vector<Tuning> neighbours(const Tuning& tuning) const;

  /// The other legal candidates that are the same kernel, launched otherwise (Parameter::of_launch).
  std::vector<Tuning> relaunches(const Tuning& tuning) const;

  /// Whether the constraints allow it, and each block of a cluster has a tile.
  bool legal(const Tuning& tuning) const;
  const Problem& problem() const noexcept { return *problem_; }
  const Limits& limits() const noexcept { return *limits_; }

 private:
  struct FamilySpace {
    const Family* family;
    std::vector<std::vector<int>> values;  ///< [parameter]: its values, less those that the problem rules out at once
    std::uint64_t size;
  };

  /// Candidates that differ in one parameter: in the values that `values_of(parameter, all)` gives.
  template <class ValuesOf>
  std::vector<Tuning> changed(const Tuning& tuning, const ValuesOf& values_of) const;

  void add(const Family& family);
  static Tuning decode(const FamilySpace& family, std::uint64_t number);
  std::optional<Tuning> draw(const FamilySpace& family, std::mt19937_64& random, int most_misses) const;

  const Problem* problem_;
  const Limits* limits_;
  std::vector<FamilySpace> families_;
  std::vector<std::size_t> drawn_;  ///< families that sample() draws from
};

/// A fixed legal candidate of the family for this problem, simple and safe; nothing when the family cannot serve it.
std::optional<Tuning> default_candidate(const Family& family, const Problem& problem, const Limits& limits);

/// Why no candidate of the family is legal: what the last of its defaults breaks, a constraint that all of them break
/// where there is one. Nothing where one is legal, as far as 100000 draws find it.
std::optional<Violation> why_none_is_legal(const Family& family, const Problem& problem, const Limits& limits);

}  // namespace stencil_tune
