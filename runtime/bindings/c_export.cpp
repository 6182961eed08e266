// The C interface: a kernel as text.
#include "runtime/bindings/c_call.hpp"
#include "runtime/bindings/c_handles.hpp"
#include "runtime/export/export.hpp"
#include "runtime/files/output_file.hpp"

#include <filesystem>

namespace stencil_tune {

namespace {

stencil_tune_export_options filled(const stencil_tune_export_options* given) {
  const stencil_tune_export_options defaults = STENCIL_TUNE_EXPORT_OPTIONS_INIT;
  if (given == nullptr) return defaults;
  return whole(*given, sizeof(defaults), defaults, "stencil_tune_export_options", "STENCIL_TUNE_EXPORT_OPTIONS_INIT");
}

ExportOptions to_options(const stencil_tune_export_options& from) {
  return {.name = text_or_empty(from.name),
          .architecture = text_or_empty(from.architecture),
          .with_main = from.with_main != 0,
          .split_header = from.split_header != 0};
}

/// The launcher is called after the file, which includes NAME.h where it is split.
void export_to(const std::filesystem::path& path, const Kernel& kernel, const stencil_tune_export_options& from) {
  ExportOptions options = to_options(from);
  const std::string stem = path.stem().string();
  if (options.name.empty()) options.name = export_name(stem);
  if (options.split_header && options.name != stem) {
    throw Error(ErrorCode::invalid_argument, "the source includes " + options.name + ".h: name the file " +
                                                 options.name + ".cu, or choose another name");
  }
  const ExportedFiles files = kernel.export_cuda(options, from.stage);
  write_output_file(path, files.source);
  if (options.split_header) write_output_file(std::filesystem::path(path).replace_extension(".h"), files.header);
}

}  // namespace

}  // namespace stencil_tune

using namespace stencil_tune;

extern "C" {

stencil_tune_status stencil_tune_kernel_source(const stencil_tune_kernel* kernel, int32_t stage, char** text) {
  return guarded([&] {
    require(text, "text");
    *text = nullptr;
    require(kernel, "kernel");
    *text = copy_of(kernel->kernel.source(stage)).release();
  });
}

stencil_tune_status stencil_tune_export_text(const stencil_tune_kernel* kernel,
                                             const stencil_tune_export_options* options, char** source, char** header) {
  return guarded([&] {
    require(source, "source");
    *source = nullptr;
    if (header != nullptr) *header = nullptr;
    require(kernel, "kernel");
    const stencil_tune_export_options from = filled(options);
    if (from.split_header != 0) require(header, "header");
    const ExportedFiles files = kernel->kernel.export_cuda(to_options(from), from.stage);
    OwnedText source_text = copy_of(files.source);
    if (header != nullptr) *header = copy_of(files.header).release();
    *source = source_text.release();
  });
}

stencil_tune_status stencil_tune_export_file(const stencil_tune_kernel* kernel,
                                             const stencil_tune_export_options* options, const char* path) {
  return guarded([&] {
    require(kernel, "kernel");
    require(path, "path");
    export_to(path, kernel->kernel, filled(options));
  });
}

void stencil_tune_free_text(char* text) { std::free(text); }

}  // extern "C"
