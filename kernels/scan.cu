/* stencil-tune
kernel = "scan"
about = "inclusive sums of an array, i32, in one launch"

[sizes]
n = 134217728

[parameters]
BLOCK = [128, 256, 512]
CELLS = [1, 4, 8, 12, 16, 20]
LOOK_BACK = [0, 1]

[default]  # the textbook's kernel
BLOCK = 512
CELLS = 1
LOOK_BACK = 0

[rules]
"static shared memory has 48 KiB" = "BLOCK * CELLS * 33 / 32 <= 12000"

[launch]
block = ["BLOCK"]
grid = ["ceil_div(n, BLOCK * CELLS)"]

[[arguments]]
name = "in"
type = "i32*"
length = "n"
fill = "integers"

[[arguments]]
name = "out"
type = "i32*"
length = "n"
output = true

[[arguments]]
name = "state"
type = "u64*"
length = "ceil_div(n, 128) + 2"
fill = "zeros"
inout = true

[[arguments]]
name = "n"
type = "i64"
value = "n"

[reference]
kernel = "scan_reference"
block = ["1024"]
grid = ["1"]
tolerance = 0

[counts]
flops = "n"
bytes = "8 * n"
*/

// Inclusive scan (prefix sums) in a single pass: every cell is read once and written once.
//
//   A block draws the number of its tile, in the order in which blocks begin: those before it are under way or done.
//
//   global     in: a tile of BLOCK * CELLS cells, contiguous for each warp
//                 |
//   shared     tile, a cell of padding after each 32: written across, read along (CELLS neighbours a thread)
//                 |
//   registers  a thread's sums -> its warp's, by shuffles -> the block's, through shared memory
//                 |
//   global     state[2 + tile]: (status, value) in 64 bits, written at once
//                 |        sum     the tile's own sum is known         prefix   and that of all before it
//                 |      LOOK_BACK: a warp adds the sums of the 32 tiles before, and of 32 more, until one has its
//                 prefix. |      Else it waits for the prefix of the tile before, as in the textbook: tiles follow each
//                 other.
//   registers  + prefix of the tiles before  ->  shared  ->  global out
//
// state[0] counts tiles that were drawn, state[1] those that are done: the last block leaves all of it at 0 for the
// next launch. Two launches would need no waiting, but would read the array twice: 12 bytes a cell where this kernel
// moves 8.
//
//   BLOCK  threads     CELLS  of a thread, at most 20

constexpr int kTile = BLOCK * CELLS;
constexpr int kWarps = BLOCK / 32;
constexpr unsigned kAll = 0xffffffffu;

using Word = unsigned long long;  // status above, value below
constexpr unsigned kSum = 1, kPrefix = 2;

__device__ inline unsigned status_of(Word word) { return static_cast<unsigned>(word >> 32); }
__device__ inline unsigned value_of(Word word) { return static_cast<unsigned>(word); }
__device__ inline void publish(Word* at, unsigned status, unsigned value) {
  atomicExch(at, static_cast<Word>(status) << 32 | value);
}
__device__ inline Word look_at(const Word* at) { return *static_cast<const volatile Word*>(at); }

__device__ inline int padded(int cell) { return cell + cell / 32; }

/// The sum of this lane's value and those of lower lanes.
__device__ inline unsigned scan_of_warp(unsigned value) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (int distance = 1; distance < 32; distance *= 2) {
    const unsigned lower = __shfl_up_sync(kAll, value, distance);
    if (lane >= distance) value += lower;
  }
  return value;
}

/// The sum of all tiles before this one. For one whole warp.
__device__ inline unsigned prefix_before(const Word* tiles, long long tile) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#if LOOK_BACK
  unsigned prefix = 0;
  for (long long nearest = tile - 1;; nearest -= 32) {
    Word word = static_cast<Word>(kPrefix) << 32;  // before the first tile
    do {
      if (nearest - lane >= 0) word = look_at(tiles + nearest - lane);
    } while (__any_sync(kAll, status_of(word) == 0));
    const unsigned with_prefix = __ballot_sync(kAll, status_of(word) == kPrefix);
    const int last = with_prefix != 0 ? __ffs(static_cast<int>(with_prefix)) - 1 : 31;
    unsigned sum = lane <= last ? value_of(word) : 0;
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(kAll, sum, distance);
    prefix += sum;
    if (with_prefix != 0) return prefix;
  }
#else
  Word word = 0;
  do {
    if (lane == 0) word = look_at(tiles + tile - 1);
    word = __shfl_sync(kAll, word, 0);
  } while (status_of(word) != kPrefix);
  return value_of(word);
#endif
}

__global__ void __launch_bounds__(BLOCK)
    scan(const int* __restrict__ in, int* __restrict__ out, Word* state, long long n) {
  __shared__ unsigned cells[kTile + kTile / 32 + 1];
  __shared__ unsigned of_warp[32];
  __shared__ unsigned before_tile;
  __shared__ long long drawn;
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;
  Word* tiles = state + 2;

  if (thread == 0) drawn = static_cast<long long>(atomicAdd(state, Word{1}));
  __syncthreads();  // the tile's number is there
  const long long tile = drawn, first = tile * kTile;
#pragma unroll
  for (int i = 0; i < CELLS; ++i) {
    const int cell = i * BLOCK + thread;
    cells[padded(cell)] = first + cell < n ? static_cast<unsigned>(in[first + cell]) : 0;
  }
  __syncthreads();  // the tile is there

  unsigned sum[CELLS];
#pragma unroll
  for (int i = 0; i < CELLS; ++i) sum[i] = cells[padded(thread * CELLS + i)] + (i > 0 ? sum[i - 1] : 0);
  const unsigned to_here = scan_of_warp(sum[CELLS - 1]);
  if (lane == 31) of_warp[warp] = to_here;
  __syncthreads();  // each warp's sum is there
  if (warp == 0) {
    const unsigned warps = scan_of_warp(lane < kWarps ? of_warp[lane] : 0);
    const unsigned of_tile = __shfl_sync(kAll, warps, kWarps - 1);
    of_warp[lane] = warps;
    unsigned before = 0;
    if (tile > 0) {
      if (lane == 0) publish(tiles + tile, kSum, of_tile);
      before = prefix_before(tiles, tile);
    }
    if (lane == 0) {
      publish(tiles + tile, kPrefix, before + of_tile);
      before_tile = before;
    }
  }
  __syncthreads();  // what comes before the tile, and before each warp, is there

  const unsigned before = before_tile + (warp > 0 ? of_warp[warp - 1] : 0) + to_here - sum[CELLS - 1];
#pragma unroll
  for (int i = 0; i < CELLS; ++i) cells[padded(thread * CELLS + i)] = before + sum[i];
  __syncthreads();  // the results are there
#pragma unroll
  for (int i = 0; i < CELLS; ++i) {
    const int cell = i * BLOCK + thread;
    if (first + cell < n) out[first + cell] = static_cast<int>(cells[padded(cell)]);
  }

  if (thread == 0) drawn = atomicAdd(state + 1, Word{1}) == gridDim.x - 1 ? 1 : 0;
  __syncthreads();
  if (drawn == 0) return;
  for (long long i = thread; i < gridDim.x + 2ll; i += BLOCK) atomicExch(state + i, Word{0});
}

// One block, to be compared with: each thread adds its part of the array, then goes through it again.
__global__ void scan_reference(const int* in, int* out, Word*, long long n) {
  __shared__ unsigned sum_of[1024];
  const long long part = (n + blockDim.x - 1) / blockDim.x;
  const long long first = part * threadIdx.x, end = first + part < n ? first + part : n;
  unsigned sum = 0;
  for (long long i = first; i < end; ++i) sum += static_cast<unsigned>(in[i]);
  sum_of[threadIdx.x] = sum;
  __syncthreads();
  sum = 0;
  for (unsigned i = 0; i < threadIdx.x; ++i) sum += sum_of[i];
  for (long long i = first; i < end; ++i) {
    sum += static_cast<unsigned>(in[i]);
    out[i] = static_cast<int>(sum);
  }
}
