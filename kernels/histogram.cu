/* stencil-tune
kernel = "histogram"
about = "how often each of 256 values occurs in an array of bytes"

[sizes]
n = 268435456

[parameters]
BLOCK = [128, 256, 512, 1024]
BLOCKS = [132, 264, 528, 1056, 2112]
VECTOR = [1, 4, 16]
PRIVATE = [0, 1]
COPIES = [1, 2, 4, 8]
AGGREGATE = [0, 1]

[default]  # the textbook's kernel
BLOCK = 256
BLOCKS = 2112
VECTOR = 1
PRIVATE = 0
COPIES = 1
AGGREGATE = 0

[rules]
"only private histograms have copies" = "PRIVATE == 1 || COPIES == 1"
"a copy is of a warp or more" = "COPIES <= BLOCK / 32"

[launch]
block = ["BLOCK"]
grid = ["min(BLOCKS, ceil_div(n, BLOCK * VECTOR))"]

[[arguments]]
name = "in"
type = "u8*"
length = "n"
fill = "random"

[[arguments]]
name = "bins"
type = "u32*"
length = "256"
output = true

[[arguments]]
name = "scratch"
type = "u32*"
length = "257"
fill = "zeros"
inout = true

[[arguments]]
name = "n"
type = "i64"
value = "n"

[reference]
kernel = "histogram_reference"
block = ["256"]
grid = ["256"]
tolerance = 0

[counts]
bytes = "n"
*/

// Histogram of bytes, in one launch.
//
//   global     in: VECTOR bytes a load; the blocks go through the array side by side
//                 |      AGGREGATE: a thread counts equal bytes that follow each other, and adds them at once
//   shared     counts[COPIES][256 + 1], atomic additions; the warps of a block share out the copies, so that fewer
//   meet.
//                 |      A copy is a cell longer than its bins: one bin's copies lie in other banks.
//   global     scratch[256], atomic additions of a block's sums         fence, then scratch[256] += 1: who is last?
//                 |
//   last block moves scratch to bins, and leaves scratch at 0 for the next launch
//
//   BLOCK    threads              VECTOR   bytes a load moves, where `in` begins at a multiple of as many
//   BLOCKS   at most, of the grid          COPIES  private histograms of a block
//   PRIVATE  0: every byte adds to global memory, as in the textbook's first kernel (VECTOR = 1, AGGREGATE = 0)

constexpr int kBins = 256;

/// Adds runs of equal bytes at once, or each byte.
struct Counter {
  unsigned* counts;
  int value = -1;
  unsigned run = 0;

  __device__ void add(int byte) {
#if AGGREGATE
    if (byte != value) {
      finish();
      value = byte;
      run = 0;
    }
    ++run;
#else
    atomicAdd(counts + byte, 1u);
#endif
  }
  __device__ void finish() {
    if (run > 0) atomicAdd(counts + value, run);
  }
};

struct alignas(VECTOR) Bytes {
  unsigned char byte[VECTOR];
};

__device__ inline void count_bytes(const unsigned char* in, long long n, unsigned* counts) {
  const long long thread = static_cast<long long>(blockIdx.x) * BLOCK + threadIdx.x;
  const long long threads = static_cast<long long>(gridDim.x) * BLOCK;
  const long long whole = reinterpret_cast<unsigned long long>(in) % VECTOR == 0 ? n / VECTOR : 0;
  Counter counter{counts};
  for (long long i = thread; i < whole; i += threads) {
    const Bytes bytes = reinterpret_cast<const Bytes*>(in)[i];
#pragma unroll
    for (int b = 0; b < VECTOR; ++b) counter.add(bytes.byte[b]);
  }
  for (long long i = whole * VECTOR + thread; i < n; i += threads) counter.add(in[i]);
  counter.finish();
}

__global__ void __launch_bounds__(BLOCK)
    histogram(const unsigned char* __restrict__ in, unsigned* bins, unsigned* scratch, long long n) {
  const int thread = static_cast<int>(threadIdx.x);
  __shared__ bool is_last;
#if PRIVATE
  constexpr int kStride = kBins + 1;
  __shared__ unsigned counts[COPIES * kStride];
  for (int i = thread; i < COPIES * kStride; i += BLOCK) counts[i] = 0;
  __syncthreads();  // all counts are 0
  count_bytes(in, n, counts + thread / 32 % COPIES * kStride);
  __syncthreads();  // the block has counted its bytes
  for (int bin = thread; bin < kBins; bin += BLOCK) {
    unsigned sum = 0;
    for (int copy = 0; copy < COPIES; ++copy) sum += counts[copy * kStride + bin];
    if (sum > 0) atomicAdd(scratch + bin, sum);
  }
#else
  count_bytes(in, n, scratch);
#endif
  __threadfence();  // the block's additions are seen before its count
  __syncthreads();
  if (thread == 0) is_last = atomicAdd(scratch + kBins, 1u) == gridDim.x - 1;
  __syncthreads();
  if (!is_last) return;
  __threadfence();
  for (int bin = thread; bin < kBins; bin += BLOCK) bins[bin] = atomicExch(scratch + bin, 0u);
  if (thread == 0) scratch[kBins] = 0;
}

struct alignas(16) Words {
  unsigned word[4];
};

// A block a bin, to be compared with: its threads share out the bytes, sixteen at a time where that is possible, and
// no addition is atomic.
__global__ void histogram_reference(const unsigned char* in, unsigned* bins, unsigned*, long long n) {
  __shared__ unsigned count_of[256];
  unsigned count = 0;
  const long long whole = reinterpret_cast<unsigned long long>(in) % 16 == 0 ? n / 16 : 0;
  for (long long i = threadIdx.x; i < whole; i += blockDim.x) {
    const Words words = reinterpret_cast<const Words*>(in)[i];
    for (const unsigned word : words.word) {
      for (int b = 0; b < 32; b += 8) count += (word >> b & 255u) == blockIdx.x;
    }
  }
  for (long long i = whole * 16 + threadIdx.x; i < n; i += blockDim.x) count += in[i] == blockIdx.x;
  count_of[threadIdx.x] = count;
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) count_of[threadIdx.x] += count_of[threadIdx.x + half];
  }
  if (threadIdx.x == 0) bins[blockIdx.x] = count_of[0];
}
