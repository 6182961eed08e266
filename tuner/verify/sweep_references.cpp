#include "tuner/verify/sweep_references.hpp"

namespace stencil_tune {

SweepReferences::SweepReferences(const CheckKernels& kernels, const Problem& problem, const FieldSet& fields,
                                 const CheckCase& how, const DeviceReference& first)
    : kernels_(kernels), problem_(problem), fields_(fields), how_(how), first_(first) {}

const DeviceReference& SweepReferences::after(int sweeps) {
  const auto beyond = later_.upper_bound(sweeps);
  int done = beyond == later_.begin() ? 1 : std::prev(beyond)->first;
  const DeviceReference* earlier = done == 1 ? &first_ : &later_.at(done);
  while (done < sweeps) {
    make_room(done);
    DeviceReference& next = later_.try_emplace(done + 1, kernels_, first_.capacity()).first->second;
    next.compute(problem_, fields_, how_, 0, {0, row_count(problem_)}, 0, earlier);
    earlier = &next;
    ++done;
  }
  return *earlier;
}

/// For one more, at the cost of others than `kept`.
void SweepReferences::make_room(int kept) {
  constexpr double kShareOfFreeMemory = 0.9;
  const double needed = static_cast<double>(first_.capacity()) * DeviceReference::kBytesPerCell;
  for (auto entry = later_.begin(); entry != later_.end();) {
    if (needed <= kShareOfFreeMemory * static_cast<double>(kernels_.driver().free_memory())) return;
    entry = entry->first == kept ? std::next(entry) : later_.erase(entry);
  }
}

}  // namespace stencil_tune
