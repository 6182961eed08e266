// What a scheme conserves stays over 10,000 steps on a GPU, fused and stage by stage.
#include "tests/runtime/library/conserved.hpp"

#include "generator/candidates/constraints.hpp"
#include "generator/candidates/family.hpp"
#include "generator/candidates/space.hpp"
#include "generator/kernel_source/signature.hpp"
#include "gpu_test.hpp"
#include "runtime/compile/caching_compiler.hpp"
#include "runtime/library/library_parts.hpp"
#include "stencil_tune/stencil_tune.hpp"

#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace stencil_tune {
namespace {

constexpr int kSteps = 10'001;  // the last one alone
constexpr int kFused = 2;

/// The fields of a run on the device.
class DeviceFields {
 public:
  DeviceFields(const FieldValues& values, const Extents& extents) {
    for (const std::vector<double>& cells : values) {
      fields_.emplace_back(extents, ElementType::f64).copy_from(std::as_bytes(std::span(cells)));
      now_.push_back(fields_.back().data());
    }
  }

  std::vector<void*>& addresses() { return now_; }

  FieldValues values(const Extents& extents) const {
    FieldValues values;
    for (void* address : now_) {
      for (const DeviceField& field : fields_) {
        if (field.data() != address) continue;
        auto& cells = values.emplace_back(static_cast<std::size_t>(extents.cells()));
        field.copy_to(std::as_writable_bytes(std::span(cells)));
      }
    }
    return values;
  }

 private:
  std::vector<DeviceField> fields_;
  std::vector<void*> now_;
};

class DeviceConserved : public GpuTest<> {
 protected:
  void SetUp() override {
    GpuTest<>::SetUp();
    if (IsSkipped()) return;
    context_.emplace(0);
    stream_.emplace(cuda_driver());
  }

  /// The first default that fuses so many steps.
  Tuning fusing(const Problem& run) {
    for (const Tuning& each : family_named("system").defaults(run)) {
      if (each.steps == kFused && is_legal({run, each}, device_.limits)) return each;
    }
    throw std::runtime_error("no default fuses steps of " + run.stencil.name);
  }

  /// A library whose only winner fuses steps of that problem.
  Library library_for(const Problem& problem) {
    Problem run = problem;
    run.steps = kFused;
    const Tuning tuning = fusing(run);
    WinnerRecord winner;
    winner.trial.problem = {.stencil_key = stencil_key(problem.stencil),
                            .stencil_name = problem.stencil.name,
                            .stage = problem.stage,
                            .type = problem.type,
                            .boundaries = problem.boundaries,
                            .extents = problem.extents,
                            .pitch = problem.pitch,
                            .steps = kSteps};
    winner.trial.code = code(tuning);
    winner.trial.rate = 1;
    LibraryParts parts;
    parts.driver = []() -> Driver& { return cuda_driver(); };
    parts.compiler = [] { return std::shared_ptr<Compiler>(open_nvrtc()); };
    parts.winners = [this, winner, tuning](const Problem&, const std::string& architecture) {
      WinnerRecord here = winner;
      here.trial.platform = {.gpu = device_.name,
                             .architecture = architecture,
                             .driver = device_.driver,
                             .nvrtc = "",
                             .template_signature = template_signature(tuning)};
      return std::vector{here};
    };
    return Library(std::make_unique<Library::Impl>(std::move(parts)));
  }

  FieldValues advanced(const Kernel& kernel, const FieldValues& start, const Extents& extents) {
    DeviceFields fields(start, extents);
    kernel.advance(stream_->get(), fields.addresses(), kSteps);
    stream_->synchronize();
    return fields.values(extents);
  }

  FieldValues stepped(const Kernel& kernel, const Stencil& stencil, const FieldValues& start, const Extents& extents) {
    DeviceFields fields(start, extents);
    const std::vector<int> partner = partners(stencil);
    for (int step = 0; step < kSteps; ++step) {
      kernel.launch(stream_->get(), fields.addresses());
      const std::vector<void*> before = fields.addresses();
      for (std::size_t field = 0; field < before.size(); ++field) {
        fields.addresses()[field] = before[static_cast<std::size_t>(partner[field])];
      }
    }
    stream_->synchronize();
    return fields.values(extents);
  }

  std::optional<DeviceContext> context_;
  std::optional<Stream> stream_;
};

TEST_F(DeviceConserved, QuantitiesStayOver10000StepsFusedAndStageByStage) {
  for (const ConservedCase& each : conserved_cases()) {
    SCOPED_TRACE(each.name);
    const bool flat = each.stencil.rank == 2;
    const Extents extents{each.stencil.rank, {flat ? 509 : 130, flat ? 251 : 61, flat ? 1 : 47}};
    const Problem problem = make_problem(each.stencil, ElementType::f64, each.boundaries, extents,
                                         padded_pitch(extents.n[0], ElementType::f64), 1, kWholeStep);
    Library library = library_for(problem);
    Kernel kernel = library.lookup({.stencil = problem.stencil,
                                    .type = problem.type,
                                    .extents = extents,
                                    .boundaries = problem.boundaries,
                                    .pitch = problem.pitch,
                                    .steps = kSteps});
    ASSERT_EQ(kernel.fused_steps(), kFused);
    kernel.prepare(stream_->get());
    const FieldValues start = each.start(extents);
    expect_conserved(each, start, advanced(kernel, start, extents), stepped(kernel, each.stencil, start, extents),
                     extents, kSteps);
  }
}

}  // namespace
}  // namespace stencil_tune
