// What a search for stencils walks among: every legal candidate of a problem, or those alone that were recorded.
#pragma once

#include "generator/candidates/space.hpp"

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

namespace stencil_tune {

class SearchSpace {
 public:
  virtual ~SearchSpace() = default;

  /// Points, numbered from 0.
  virtual std::uint64_t size() const = 0;
  /// The candidate of this number; nothing where it has none.
  virtual std::optional<Tuning> at(std::uint64_t number) const = 0;
  /// A candidate drawn at random; nothing where there is none.
  virtual std::optional<Tuning> sample(std::mt19937_64& random) const = 0;
  virtual std::vector<Tuning> neighbours(const Tuning& tuning) const = 0;
  /// Other launches of the candidate's kernel; of a record none.
  virtual std::vector<Tuning> relaunches(const Tuning&) const { return {}; }
};

/// A view on the space, which must outlive it.
class LegalCandidates final : public SearchSpace {
 public:
  explicit LegalCandidates(const Space& space) : space_(space) {}

  std::uint64_t size() const override { return space_.size(); }
  std::optional<Tuning> at(std::uint64_t number) const override { return space_.at(number); }
  std::optional<Tuning> sample(std::mt19937_64& random) const override { return space_.sample(random); }
  std::vector<Tuning> neighbours(const Tuning& tuning) const override { return space_.neighbours(tuning); }
  std::vector<Tuning> relaunches(const Tuning& tuning) const override { return space_.relaunches(tuning); }

 private:
  const Space& space_;
};

}  // namespace stencil_tune
