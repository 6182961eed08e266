/* stencil-tune
kernel = "convolution1d"
about = "1D convolution with ghost cells of 0, f32; the mask has 2 * radius + 1 weights"

[sizes]
n = 67108864
radius = 8

[parameters]
RADIUS = [1, 2, 3, 4, 5, 6, 7, 8, 12, 16]
BLOCK = [64, 128, 256, 512]
CELLS = [1, 2, 4, 8]
SHARED = [0, 1, 2]
MASK = [0, 1, 2]

[default]  # the textbook's kernel
RADIUS = "radius"
BLOCK = 256
CELLS = 1
SHARED = 0
MASK = 0

[rules]
"RADIUS is the mask's" = "RADIUS == radius"

[launch]
block = ["BLOCK"]
grid = ["ceil_div(n, BLOCK * CELLS)"]

[[arguments]]
name = "in"
type = "f32*"
length = "n"
fill = "random"

[[arguments]]
name = "mask"
type = "f32*"
length = "2 * radius + 1"
fill = "random"
symbol = "constant_mask"

[[arguments]]
name = "out"
type = "f32*"
length = "n"
output = true

[[arguments]]
name = "n"
type = "i32"
value = "n"

[[arguments]]
name = "radius"
type = "i32"
value = "radius"

[reference]
kernel = "convolution1d_naive"
block = ["256"]
grid = ["ceil_div(n, 256)"]
tolerance = 1e-5

[counts]
flops = "2 * n * (2 * radius + 1)"
bytes = "8 * n"
*/

// 1D convolution: out[i] = sum of in[i - RADIUS + j] * mask[j]; cells outside of the array are 0.
//
//   global    . . . . [ halo |  cells of a block, BLOCK * CELLS  | halo ] . . . .
//                        \                 |                     /            each cell is loaded once a block
//   shared            tile[BLOCK * CELLS + 2 * RADIUS], ghost cells 0
//                                          |
//   registers    a thread's CELLS sums, BLOCK apart: a warp reads and writes contiguous cells
//
// A weight is read once for CELLS multiply-adds. One barrier, between loading and computing.
//
//   BLOCK   threads                 SHARED  0: cells come from the cache, each thread checks its own
//   CELLS   outputs of a thread             1: a block's cells and their halo are staged in shared memory
//                                           2: its own cells alone are; the halo comes from the cache
//                                   MASK    where weights come from: 0 global memory, where all threads of a warp read
//                                           the same cell; 1 shared memory; 2 constant memory
//   RADIUS  weights on each side of the middle: a constant, so that the loop over them is unrolled
//
// The textbook's kernels have CELLS = 1. Basic: SHARED = 0, MASK = 0; with constant memory MASK = 2; tiled with halo
// cells: SHARED = 1; general caching: SHARED = 2.

constexpr int kWeights = 2 * RADIUS + 1;
constexpr int kOutputs = BLOCK * CELLS;

__constant__ float constant_mask[kWeights];

__device__ inline float cell_or_ghost(const float* in, long long i, int n) { return i >= 0 && i < n ? in[i] : 0.0f; }

__global__ void __launch_bounds__(BLOCK)
    convolution1d(const float* __restrict__ in, const float* __restrict__ mask, float* __restrict__ out, int n, int) {
  const int thread = static_cast<int>(threadIdx.x);
  const long long first = static_cast<long long>(blockIdx.x) * kOutputs;

#if MASK == 1
  __shared__ float weights[kWeights];
  for (int i = thread; i < kWeights; i += BLOCK) weights[i] = mask[i];
#elif MASK == 2
  const float(&weights)[kWeights] = constant_mask;
#else
  const float* weights = mask;
#endif
#if SHARED
  constexpr int kHalo = SHARED == 1 ? RADIUS : 0;
  constexpr int kInputs = kOutputs + 2 * kHalo;
  __shared__ float tile[kInputs];
  for (int i = thread; i < kInputs; i += BLOCK) tile[i] = cell_or_ghost(in, first - kHalo + i, n);
#endif
#if SHARED || MASK == 1
  __syncthreads();  // cells and weights are there
#endif

  float sum[CELLS] = {};
#pragma unroll
  for (int j = 0; j < kWeights; ++j) {
    const float weight = weights[j];
#pragma unroll
    for (int i = 0; i < CELLS; ++i) {
      const int at = thread + i * BLOCK + j;
#if SHARED == 1
      sum[i] += tile[at] * weight;
#elif SHARED == 2
      const int own = at - RADIUS;
      const bool is_own = own >= 0 && own < kOutputs;
      sum[i] += (is_own ? tile[own] : cell_or_ghost(in, first + own, n)) * weight;
#else
      sum[i] += cell_or_ghost(in, first - RADIUS + at, n) * weight;
#endif
    }
  }
#pragma unroll
  for (int i = 0; i < CELLS; ++i) {
    const long long at = first + thread + i * BLOCK;
    if (at < n) out[at] = sum[i];
  }
}

// The textbook's basic kernel, with sums in f64 to be compared with.
__global__ void convolution1d_naive(const float* in, const float* mask, float* out, int n, int radius) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double sum = 0;
  for (int j = 0; j <= 2 * radius; ++j) {
    const long long at = i - radius + j;
    if (at >= 0 && at < n) sum += static_cast<double>(in[at]) * mask[j];
  }
  out[i] = static_cast<float>(sum);
}
