// The textbook's arithmetic intensity of a candidate.
#include "generator/candidates/family.hpp"
#include "generator/candidates/textbook/textbook.hpp"

namespace stencil_tune {

Intensity textbook_intensity(const Candidate& candidate) {
  const Problem& problem = candidate.problem();
  const TextbookLoads loads = candidate.family().textbook_loads(candidate);
  const auto cell_bytes = static_cast<double>(problem.facts.inputs.size() * size_of(problem.type));

  Intensity intensity;
  intensity.operations = problem.facts.operations;
  intensity.bytes_loaded = loads.per_output * cell_bytes;
  intensity.halo_share = loads.halo_share;
  if (cell_bytes > 0) {
    intensity.ratio = intensity.operations / intensity.bytes_loaded;
    intensity.bound = intensity.operations / cell_bytes;
  }
  return intensity;
}

}  // namespace stencil_tune
