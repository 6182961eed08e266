/* stencil-tune
kernel = "reduction"
about = "the sum of an array, f32, in one launch"

[sizes]
n = 268435456

[parameters]
BLOCK = [128, 256, 512, 1024]
BLOCKS = [66, 132, 264, 528, 1056, 2112]
VECTOR = [1, 4]
LOADS = [1, 2, 4, 8]
SHUFFLE = [0, 1]

[default]  # the textbook's kernel
BLOCK = 1024
BLOCKS = 2112
VECTOR = 1
LOADS = 1
SHUFFLE = 0

[launch]
block = ["BLOCK"]
grid = ["min(BLOCKS, ceil_div(n, BLOCK * VECTOR * LOADS))"]

[[arguments]]
name = "in"
type = "f32*"
length = "n"
fill = "random"

[[arguments]]
name = "out"
type = "f32*"
length = "1"
output = true

[[arguments]]
name = "partial"
type = "f32*"
length = "2112"
fill = "zeros"
inout = true

[[arguments]]
name = "done"
type = "u32*"
length = "1"
fill = "zeros"
inout = true

[[arguments]]
name = "n"
type = "i64"
value = "n"

[reference]
kernel = "reduction_reference"
block = ["1024"]
grid = ["1"]
tolerance = 1e-4

[counts]
flops = "n"
bytes = "4 * n"
*/

// Sum of an array, in one pass over it and one launch.
//
//   global     in: BLOCK * VECTOR * LOADS cells a block and turn; the blocks go through the array side by side
//                 |
//   registers  a thread's LOADS * VECTOR sums, LOADS loads under way at once; then one sum
//                 |
//   warp       SHUFFLE: lanes add by shuffles, then one warp adds what the warps have. Else a tree in shared memory
//                 |
//   global     partial[block]          fence, then done += 1: the block that makes it gridDim.x is the last
//                 |
//   last block adds all of partial, writes out[0], and leaves partial and done at 0 for the next launch
//
//   BLOCK   threads                     VECTOR  cells a load moves, where `in` begins at a multiple of 16 bytes
//   BLOCKS  at most, of the grid        LOADS   loads under way at once     SHUFFLE  0: the textbook's tree
//
// The textbook's kernel: VECTOR = LOADS = 1, SHUFFLE = 0. The order of the additions is the same in every launch: equal
// inputs give equal sums, which atomic additions to out[0] would not.

struct alignas(16) Four {
  float cell[4];
};

/// The block's sum, in thread 0. Every thread must come.
__device__ inline float sum_of_block(float mine) {
  const int thread = static_cast<int>(threadIdx.x);
#if SHUFFLE
  __shared__ float of_warp[32];
  for (int distance = 16; distance > 0; distance /= 2) mine += __shfl_down_sync(0xffffffffu, mine, distance);
  __syncthreads();  // the array may still be read, by an earlier call
  if (thread % 32 == 0) of_warp[thread / 32] = mine;
  __syncthreads();  // each warp's sum is there
  if (thread < 32) {
    mine = thread < BLOCK / 32 ? of_warp[thread] : 0.0f;
    for (int distance = 16; distance > 0; distance /= 2) mine += __shfl_down_sync(0xffffffffu, mine, distance);
  }
  return mine;
#else
  __shared__ float tree[BLOCK];
  __syncthreads();  // the array may still be read, by an earlier call
  tree[thread] = mine;
  for (int half = BLOCK / 2; half > 0; half /= 2) {
    __syncthreads();  // the level above is there
    if (thread < half) tree[thread] += tree[thread + half];
  }
  __syncthreads();
  return tree[0];
#endif
}

/// The sum of the block's cells: whole turns without checks, the rest of the array cell by cell.
__device__ inline float sum_of_cells(const float* in, long long n) {
  const long long turn = static_cast<long long>(gridDim.x) * BLOCK * VECTOR * LOADS;
  const long long thread = static_cast<long long>(blockIdx.x) * BLOCK + threadIdx.x;
  const long long threads = static_cast<long long>(gridDim.x) * BLOCK;
  const bool aligned = reinterpret_cast<unsigned long long>(in) % 16 == 0;
  const long long whole = VECTOR == 1 || aligned ? n / turn * turn : 0;
  float sum[LOADS][VECTOR] = {};
  for (long long at = 0; at < whole; at += turn) {
#pragma unroll
    for (int i = 0; i < LOADS; ++i) {
      const float* from = in + at + (i * threads + thread) * VECTOR;
#if VECTOR == 4
      const Four four = *reinterpret_cast<const Four*>(from);
      for (int v = 0; v < VECTOR; ++v) sum[i][v] += four.cell[v];
#else
      sum[i][0] += *from;
#endif
    }
  }
  for (long long at = whole + thread; at < n; at += threads) sum[0][0] += in[at];
  float all = 0;
#pragma unroll
  for (int i = 0; i < LOADS; ++i) {
    for (int v = 0; v < VECTOR; ++v) all += sum[i][v];
  }
  return all;
}

__global__ void __launch_bounds__(BLOCK)
    reduction(const float* __restrict__ in, float* out, float* partial, unsigned* done, long long n) {
  __shared__ bool is_last;
  const float of_block = sum_of_block(sum_of_cells(in, n));
  if (threadIdx.x == 0) {
    *static_cast<volatile float*>(partial + blockIdx.x) = of_block;
    __threadfence();  // the sum is seen before the count
    is_last = atomicAdd(done, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last) return;
  __threadfence();
  float mine = 0;
  for (unsigned i = threadIdx.x; i < gridDim.x; i += BLOCK) {
    mine += *static_cast<volatile float*>(partial + i);
    partial[i] = 0;
  }
  const float sum = sum_of_block(mine);
  if (threadIdx.x == 0) {
    out[0] = sum;
    *done = 0;
  }
}

// One block in f64, to be compared with.
__global__ void reduction_reference(const float* in, float* out, float*, unsigned*, long long n) {
  __shared__ double tree[1024];
  double sum = 0;
  for (long long i = threadIdx.x; i < n; i += blockDim.x) sum += in[i];
  tree[threadIdx.x] = sum;
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) tree[threadIdx.x] += tree[threadIdx.x + half];
  }
  if (threadIdx.x == 0) out[0] = static_cast<float>(tree[0]);
}
