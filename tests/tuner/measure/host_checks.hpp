// The checking kernels of tuner/verify/device in f32, as functions: one thread does the work of the whole launch.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace stencil_tune::testing {

bool is_check(const std::string& entry);

/// argument: the kernel's one parameter.
void run_check(const std::string& entry, std::span<const std::byte> argument);

}  // namespace stencil_tune::testing
