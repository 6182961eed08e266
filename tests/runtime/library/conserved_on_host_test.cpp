// What a scheme conserves stays, fused or stage by stage. 10,000 steps of it run on a GPU:
// tests/gpu/conserved_test.cpp.
#include "tests/runtime/library/conserved.hpp"
#include "tests/runtime/library/systems_on_host.hpp"

#include <map>
#include <string>
#include <utility>

namespace stencil_tune {
namespace {

constexpr int kSteps = 11;  // launches of fused steps, and a remainder
constexpr int kFused = 2;

using ConservedQuantities = SystemsOnHost;

FieldValues advanced(Kernel& kernel, FieldValues fields, int steps) {
  std::vector<void*> buffers;
  for (auto& field : fields) buffers.push_back(field.data());
  kernel.advance(nullptr, buffers, steps);
  FieldValues now;
  for (void* buffer : buffers) {
    const auto* cells = static_cast<const double*>(buffer);
    now.emplace_back(cells, cells + fields.front().size());
  }
  return now;
}

FieldValues stepped(Kernel& kernel, const Stencil& stencil, FieldValues fields, int steps) {
  const std::vector<int> partner = partners(stencil);
  for (int step = 0; step < steps; ++step) {
    std::vector<void*> buffers;
    for (auto& field : fields) buffers.push_back(field.data());
    kernel.launch(nullptr, buffers);
    FieldValues now;
    for (const int from : partner) now.push_back(std::move(fields[static_cast<std::size_t>(from)]));
    fields = std::move(now);
  }
  return fields;
}

TEST_F(ConservedQuantities, StayInFusedRunsAndStageByStage) {
  std::map<std::pair<std::string, Boundaries>, Kernel> kernels;
  for (const ConservedCase& each : conserved_cases()) {
    const bool flat = each.stencil.rank == 2;
    const Extents extents{each.stencil.rank, {66, flat ? 21 : 9, flat ? 1 : 7}};
    const Problem problem = make_problem(each.stencil, ElementType::f64, each.boundaries, extents, 0, 1, kWholeStep);
    auto found = kernels.find({each.stencil.name, each.boundaries});
    if (found == kernels.end()) {
      Kernel made = lookup(problem, {winner(problem, 100, kFused)});
      ASSERT_EQ(made.fused_steps(), kFused) << each.name;
      made.prepare();
      found = kernels.emplace(std::pair(each.stencil.name, each.boundaries), made).first;
    }
    Kernel& kernel = found->second;
    const FieldValues start = each.start(extents);
    expect_conserved(each, start, advanced(kernel, start, kSteps), stepped(kernel, each.stencil, start, kSteps),
                     extents, kSteps);
  }
}

}  // namespace
}  // namespace stencil_tune
