// STENCIL_TUNE_CAPTURE: launches of an application's kernels are kept, so that they are tuned outside the program.
#pragma once

#include "generator/user_kernel/user_kernel.hpp"
#include "runtime/cuda/driver.hpp"
#include "stencil_tune/span.hpp"
#include "stencil_tune/tuned_kernel.hpp"

#include <filesystem>

namespace stencil_tune {

/// The folder of the environment; empty: nothing is captured.
std::filesystem::path capture_folder();

/// Writes FOLDER/NAME.SIZES with the definition and what the arguments hold on the stream (captured_launch.hpp), unless
/// it is there. Waits for the stream. The values fit the kernel. Throws Error(file_io).
void capture_launch(Driver& driver, const UserKernel& kernel, Span<const LaunchValue> values, CUstream_st* stream,
                    const std::filesystem::path& folder);

}  // namespace stencil_tune
