#include "tuner/verify/sweep_references.hpp"

namespace stencil_tune {

SweepReferences::SweepReferences(const CheckKernels& kernels, const Problem& problem, const FieldSet& fields,
                                 const CheckCase& how, std::int64_t cells)
    : kernels_(kernels), problem_(problem), fields_(fields), how_(how), cells_(cells) {}

const DeviceReference& SweepReferences::after(int sweeps) {
  const auto beyond = known_.upper_bound(sweeps);
  int done = beyond == known_.begin() ? 0 : std::prev(beyond)->first;
  const DeviceReference* earlier = done == 0 ? nullptr : &known_.at(done);
  while (done < sweeps) {
    make_room(done);
    DeviceReference& next = known_.try_emplace(done + 1, kernels_, cells_).first->second;
    next.compute(problem_, fields_, how_, 0, {0, row_count(problem_)}, 0, earlier);
    earlier = &next;
    ++done;
  }
  return *earlier;
}

/// For one more, at the cost of others than `kept`.
void SweepReferences::make_room(int kept) {
  constexpr double kShareOfFreeMemory = 0.9;
  const double needed = static_cast<double>(cells_) * DeviceReference::kBytesPerCell;
  for (auto entry = known_.begin(); entry != known_.end();) {
    if (needed <= kShareOfFreeMemory * static_cast<double>(kernels_.driver().free_memory())) return;
    entry = entry->first == kept ? std::next(entry) : known_.erase(entry);
  }
}

}  // namespace stencil_tune
