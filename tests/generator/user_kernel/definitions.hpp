// Kernels of the user's own, for tests.
#pragma once

#include <string>
#include <string_view>

namespace stencil_tune::testing {

/// y = a * x + y, of whatever size.
inline constexpr std::string_view kSaxpy = R"cu(// A kernel to test with.
/* stencil-tune
kernel = "saxpy"
about = "y = a x + y"
[sizes]
n = 1000
[parameters]
BLOCK = [32, 64, 128]
ITEMS = [1, 2, 4]
[rules]
"at most 256 cells a block" = "BLOCK * ITEMS <= 256"
[launch]
block = ["BLOCK"]
grid = ["ceil_div(n, BLOCK * ITEMS)"]
[[arguments]]
name = "y"
type = "f32*"
length = "n"
inout = true
[[arguments]]
name = "x"
type = "f32*"
length = "n"
[[arguments]]
name = "a"
type = "f32"
value = 0.5
[[arguments]]
name = "n"
type = "i32"
value = "n"
[reference]
kernel = "saxpy_naive"
block = 128
grid = "ceil_div(n, 128)"
tolerance = 1e-6
[counts]
flops = "2 * n"
bytes = "12 * n"
*/
__global__ void saxpy(float* y, const float* x, float a, int n) {
  for (int item = 0; item < ITEMS; ++item) {
    const int i = (blockIdx.x * ITEMS + item) * BLOCK + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
  }
}

__global__ void saxpy_naive(float* y, const float* x, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
)cu";

/// out[i] = the sum of three weights in constant memory times in[i]: weights is no parameter of the kernel.
inline constexpr std::string_view kWeighted = R"cu(/* stencil-tune
kernel = "weighted"
[sizes]
n = 300
[parameters]
BLOCK = [32, 64]
[launch]
block = ["BLOCK"]
grid = ["ceil_div(n, BLOCK)"]
[[arguments]]
name = "out"
type = "f32*"
length = "n"
output = true
[[arguments]]
name = "weights"
type = "f32*"
length = 3
symbol = true
[[arguments]]
name = "in"
type = "f32*"
length = "n"
[[arguments]]
name = "n"
type = "i32"
value = "n"
[reference]
kernel = "weighted_naive"
block = 128
grid = "ceil_div(n, 128)"
*/
__constant__ float weights[3];

__global__ void weighted(float* out, const float* in, int n) {
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < n) out[i] = (weights[0] + weights[1] + weights[2]) * in[i];
}

__global__ void weighted_naive(float* out, const float* in, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int j = 0; j < 3; ++j) sum += weights[j];
  out[i] = sum * in[i];
}
)cu";

/// The text with the first `from` replaced.
inline std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string result(text);
  result.replace(result.find(from), from.size(), to);
  return result;
}

}  // namespace stencil_tune::testing
