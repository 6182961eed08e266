// The C interface: what was found, and launching it.
#include "runtime/bindings/c_call.hpp"
#include "runtime/bindings/c_handles.hpp"

namespace stencil_tune {

namespace {

constexpr int kRun = -1;  // in place of a stage

stencil_tune_evidence to_c(const stencil_tune_kernel& handle, int stage) {
  const Evidence& from = stage == kRun ? handle.kernel.run_evidence() : handle.kernel.evidence(stage);
  const stencil_tune_kernel::Stage& texts = stage == kRun ? handle.run : handle.stages[static_cast<std::size_t>(stage)];
  stencil_tune_evidence to = STENCIL_TUNE_EVIDENCE_INIT;
  to.sentence = texts.sentence.c_str();
  to.code = from.code.c_str();
  to.tuned_code = from.tuned_code.c_str();
  to.gpu = from.gpu.c_str();
  to.driver = from.driver.c_str();
  to.nvrtc = from.nvrtc.c_str();
  to.tuned_at = from.tuned_at.c_str();
  to.notes = texts.notes.c_str();
  if (!from.tuned_code.empty()) std::copy_n(from.tuned_extents.n.begin(), kMaxRank, to.tuned_extents);
  to.tuned_pitch = from.tuned_pitch;
  to.gstencils = from.gstencils;
  to.share = from.share;
  to.match = to_c(from.match);
  to.fused_steps = stage == kRun || handle.kernel.stages() == 1 ? handle.kernel.fused_steps() : 1;
  return to;
}

stencil_tune_kernel::Stage texts_of(const Evidence& evidence) {
  stencil_tune_kernel::Stage texts{evidence.sentence(), ""};
  for (const std::string& note : evidence.notes) texts.notes += (texts.notes.empty() ? "" : "\n") + note;
  return texts;
}

}  // namespace

stencil_tune_kernel* make_c_handle(Kernel kernel, int fields, int coefficients) {
  std::string evidence;
  std::vector<stencil_tune_kernel::Stage> stages;
  for (int stage = 0; stage < kernel.stages(); ++stage) {
    stages.push_back(texts_of(kernel.evidence(stage)));
    evidence += (stage > 0 ? "\n" : "") + stages.back().sentence;
  }
  stencil_tune_kernel::Stage run = texts_of(kernel.run_evidence());
  std::string architecture = kernel.architecture();
  return new stencil_tune_kernel{std::move(kernel), std::move(evidence),     std::move(stages),
                                 std::move(run),    std::move(architecture), fields,
                                 coefficients};
}

}  // namespace stencil_tune

using namespace stencil_tune;

extern "C" {

void stencil_tune_release(stencil_tune_kernel* kernel) { delete kernel; }

stencil_tune_match stencil_tune_kernel_match(const stencil_tune_kernel* kernel) {
  return kernel == nullptr ? STENCIL_TUNE_MATCH_DEFAULT : to_c(kernel->kernel.match());
}

const char* stencil_tune_kernel_code(const stencil_tune_kernel* kernel) {
  return kernel == nullptr ? nullptr : kernel->kernel.evidence().code.c_str();
}

const char* stencil_tune_kernel_evidence(const stencil_tune_kernel* kernel) {
  return kernel == nullptr ? nullptr : kernel->evidence.c_str();
}

double stencil_tune_kernel_gstencils(const stencil_tune_kernel* kernel) {
  return kernel == nullptr ? 0 : kernel->kernel.evidence().gstencils;
}

stencil_tune_status stencil_tune_kernel_evidence_of(const stencil_tune_kernel* kernel, int32_t stage,
                                                    stencil_tune_evidence* evidence) {
  return guarded([&] {
    require(kernel, "kernel");
    require(evidence, "evidence");
    const std::size_t size = evidence->struct_size;
    require_size("stencil_tune_evidence", size, sizeof(*evidence), sizeof(*evidence), "STENCIL_TUNE_EVIDENCE_INIT");
    *evidence = to_c(*kernel, stage);
  });
}

const char* stencil_tune_kernel_architecture(const stencil_tune_kernel* kernel) {
  return kernel == nullptr ? nullptr : kernel->architecture.c_str();
}

int32_t stencil_tune_kernel_device(const stencil_tune_kernel* kernel) {
  return kernel == nullptr ? -1 : kernel->kernel.device();
}

size_t stencil_tune_kernel_workspace_bytes(const stencil_tune_kernel* kernel) {
  return kernel == nullptr ? 0 : kernel->kernel.workspace_bytes();
}

int32_t stencil_tune_kernel_stage_count(const stencil_tune_kernel* kernel) {
  return kernel == nullptr ? 0 : kernel->kernel.stages();
}

int32_t stencil_tune_kernel_fused_steps(const stencil_tune_kernel* kernel) {
  return kernel == nullptr ? 0 : kernel->kernel.fused_steps();
}

stencil_tune_status stencil_tune_kernel_updated_box(const stencil_tune_kernel* kernel, int32_t stage, int64_t* low,
                                                    int64_t* high) {
  return guarded([&] {
    require(kernel, "kernel");
    require(low, "low");
    require(high, "high");
    const Box box = kernel->kernel.updated_box(stage);
    std::copy(box.low.begin(), box.low.end(), low);
    std::copy(box.high.begin(), box.high.end(), high);
  });
}

int32_t stencil_tune_kernel_field_count(const stencil_tune_kernel* kernel) {
  return kernel == nullptr ? 0 : kernel->fields;
}

int32_t stencil_tune_kernel_coefficient_count(const stencil_tune_kernel* kernel) {
  return kernel == nullptr ? 0 : kernel->coefficients;
}

size_t stencil_tune_kernel_field_bytes(const stencil_tune_kernel* kernel) {
  return kernel == nullptr ? 0 : kernel->kernel.field_bytes();
}

size_t stencil_tune_kernel_alignment(const stencil_tune_kernel* kernel) {
  return kernel == nullptr ? 0 : kernel->kernel.alignment();
}

stencil_tune_status stencil_tune_prepare(stencil_tune_kernel* kernel) {
  return guarded([&] {
    require(kernel, "kernel");
    kernel->kernel.prepare();
  });
}

int32_t stencil_tune_kernel_ready(const stencil_tune_kernel* kernel) {
  bool ready = false;
  guarded([&] {
    require(kernel, "kernel");
    ready = kernel->kernel.ready();
  });
  return ready ? 1 : 0;
}

stencil_tune_status stencil_tune_wait(stencil_tune_kernel* kernel) {
  return guarded([&] {
    require(kernel, "kernel");
    kernel->kernel.wait();
  });
}

stencil_tune_status stencil_tune_launch_at(const stencil_tune_kernel* kernel, const int64_t* origin, int64_t step,
                                           CUstream_st* stream, void* const* fields, int32_t field_count,
                                           const double* coefficients, int32_t coefficient_count, const int64_t* low,
                                           const int64_t* high) {
  return guarded([&] {
    require(kernel, "kernel");
    require(fields, "fields");
    kernel->kernel.launch_at(to_place(origin, step), stream, span_of(fields, field_count, "fields"),
                             span_of(coefficients, coefficient_count, "coefficients"), to_box(low, high));
  });
}

stencil_tune_status stencil_tune_launch(const stencil_tune_kernel* kernel, CUstream_st* stream, void* const* fields,
                                        int32_t field_count, const double* coefficients, int32_t coefficient_count,
                                        const int64_t* low, const int64_t* high) {
  return stencil_tune_launch_at(kernel, nullptr, 0, stream, fields, field_count, coefficients, coefficient_count, low,
                                high);
}

stencil_tune_status stencil_tune_launch_stage_at(const stencil_tune_kernel* kernel, const int64_t* origin, int64_t step,
                                                 int32_t stage, CUstream_st* stream, void* const* fields,
                                                 int32_t field_count, const double* coefficients,
                                                 int32_t coefficient_count, const int64_t* low, const int64_t* high) {
  return guarded([&] {
    require(kernel, "kernel");
    require(fields, "fields");
    kernel->kernel.launch_stage_at(to_place(origin, step), stage, stream, span_of(fields, field_count, "fields"),
                                   span_of(coefficients, coefficient_count, "coefficients"), to_box(low, high));
  });
}

stencil_tune_status stencil_tune_launch_stage(const stencil_tune_kernel* kernel, int32_t stage, CUstream_st* stream,
                                              void* const* fields, int32_t field_count, const double* coefficients,
                                              int32_t coefficient_count, const int64_t* low, const int64_t* high) {
  return stencil_tune_launch_stage_at(kernel, nullptr, 0, stage, stream, fields, field_count, coefficients,
                                      coefficient_count, low, high);
}

stencil_tune_status stencil_tune_advance_at(const stencil_tune_kernel* kernel, const int64_t* origin, int64_t step,
                                            CUstream_st* stream, void** fields, int32_t field_count, int64_t steps,
                                            const double* coefficients, int32_t coefficient_count) {
  return guarded([&] {
    require(kernel, "kernel");
    require(fields, "fields");
    kernel->kernel.advance_at(to_place(origin, step), stream, span_of(fields, field_count, "fields"), steps,
                              span_of(coefficients, coefficient_count, "coefficients"));
  });
}

stencil_tune_status stencil_tune_advance(const stencil_tune_kernel* kernel, CUstream_st* stream, void** fields,
                                         int32_t field_count, int64_t steps, const double* coefficients,
                                         int32_t coefficient_count) {
  return stencil_tune_advance_at(kernel, nullptr, 0, stream, fields, field_count, steps, coefficients,
                                 coefficient_count);
}

}  // extern "C"
