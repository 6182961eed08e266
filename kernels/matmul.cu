/* stencil-tune
kernel = "matmul"
about = "C = A * B, row-major, f32, any m, n and k"

[sizes]
m = 4096
n = 4096
k = 4096

[parameters]
TILED = [0, 1]
TILE_M = [16, 32, 64, 128]
TILE_N = [16, 32, 64, 128]
TILE_K = [8, 16, 32]
ROWS = [1, 2, 4, 8]
COLUMNS = [1, 2, 4, 8]
LANES_N = [8, 16]
VECTOR = [1, 4]
STAGES = [1, 2]
GROUP = [1, 8]
BLOCKS = [1, 2]

[default]  # the textbook's tiled kernel
TILED = 1
TILE_M = 16
TILE_N = 16
TILE_K = 16
ROWS = 1
COLUMNS = 1
LANES_N = 16
VECTOR = 1
STAGES = 1
GROUP = 1
BLOCKS = 1

[rules]
"without tiles blocks are 16 x 16 cells" = "TILED == 1 || TILE_M == 16 && TILE_N == 16 && ROWS * COLUMNS == 1"
"without tiles there are no tiles of k" = "TILED == 1 || TILE_K == 16 && LANES_N == 16 && STAGES == 1"
"without tiles there are no wide loads" = "TILED == 1 || VECTOR * GROUP * BLOCKS == 1"
"threads share out the tile of C" = "TILE_M % ROWS == 0 && TILE_N % COLUMNS == 0"
"a block has 64 threads or more" = "TILE_M / ROWS * (TILE_N / COLUMNS) >= 64"
"a block has 1024 threads or fewer" = "TILE_M / ROWS * (TILE_N / COLUMNS) <= 1024"
"warps are LANES_N threads wide" = "TILE_N / COLUMNS % LANES_N == 0 && TILE_M / ROWS % (32 / LANES_N) == 0"
"threads share out the tile of A" = "TILE_M * TILE_K % (VECTOR * (TILE_M / ROWS) * (TILE_N / COLUMNS)) == 0"
"threads share out the tile of B" = "TILE_K * TILE_N % (VECTOR * (TILE_M / ROWS) * (TILE_N / COLUMNS)) == 0"
"an SM has registers for the blocks" = "BLOCKS * (TILE_M / ROWS) * (TILE_N / COLUMNS) <= 1024"
"static shared memory has 48 KiB" = "STAGES * TILE_K * (TILE_M + TILE_N + 8) <= 12288"

[launch]
block = ["TILE_M / ROWS * (TILE_N / COLUMNS)"]
grid = ["ceil_div(m, TILE_M) * ceil_div(n, TILE_N)"]

[[arguments]]
name = "a"
type = "f32*"
length = "m * k"
fill = "random"

[[arguments]]
name = "b"
type = "f32*"
length = "k * n"
fill = "random"

[[arguments]]
name = "c"
type = "f32*"
length = "m * n"
output = true

[[arguments]]
name = "m"
type = "i32"
value = "m"

[[arguments]]
name = "n"
type = "i32"
value = "n"

[[arguments]]
name = "k"
type = "i32"
value = "k"

[reference]
kernel = "matmul_naive"
block = ["16", "16"]
grid = ["ceil_div(n, 16)", "ceil_div(m, 16)"]
tolerance = 1e-3

[counts]
flops = "2 * m * n * k"
bytes = "4 * (m * k + k * n + m * n)"
*/

// Matrix multiplication through tiles in shared memory and registers.
//
//                 n                     A block computes a tile of C. It walks along k, TILE_K at a time:
//             +---+---+---+
//             |   | b |   | k             global        shared, STAGES of each           registers
//             +---+---+---+               a tile of A -> tile_a[TILE_K][TILE_M], turned -> left[ROWS]    \
//        k                                                                                                sum += left *
//        right
//      +---+  +---+---+---+               a tile of B -> tile_b[TILE_K][TILE_N]         -> right[COLUMNS] /
//      |   |  |   |   |   |
//    m +---+  +---+---+---+             A thread holds ROWS x COLUMNS sums, in chunks of up to 4 next to each other.
//      | a |  |   | C |   |             A chunk's neighbour belongs to the next thread, so that a warp reads its part
//      of
//      +---+  +---+---+---+             a row of shared memory without bank conflicts.
//
// With two stages the next tiles are on their way from global memory to registers while the present ones are
// multiplied; one barrier a tile. With one stage there are two barriers and no overlap.
// What lies outside of A and B is 0 in shared memory, where it adds nothing; what lies outside of C is not stored.
//
//   TILED           0: no shared memory, every factor comes from global memory
//   TILE_M, TILE_N  cells of C a block computes               ROWS, COLUMNS  cells of C a thread computes
//   TILE_K          cells of k between two barriers           LANES_N        threads of a warp along n
//   VECTOR          cells a load from global memory moves, where rows begin at multiples of 16 bytes
//   STAGES          tiles in shared memory: 1, or 2           GROUP          tiles of C along m that blocks take
//   together, for L2 BLOCKS          blocks of an SM that the compiler leaves registers for
//
// The textbook's tiled kernel: TILE_M = TILE_N = TILE_K = 16, ROWS = COLUMNS = VECTOR = STAGES = GROUP = BLOCKS = 1;
// its basic one: TILED = 0.

using Size = long long;

constexpr int kThreadsN = TILE_N / COLUMNS;
constexpr int kThreadsM = TILE_M / ROWS;
constexpr int kThreads = kThreadsN * kThreadsM;
constexpr int kLoadsA = TILE_M * TILE_K / (VECTOR * kThreads);  // loads that a thread makes, VECTOR cells each
constexpr int kLoadsB = TILE_K * TILE_N / (VECTOR * kThreads);
constexpr int kChunkM = ROWS < 4 ? ROWS : 4;
constexpr int kChunkN = COLUMNS < 4 ? COLUMNS : 4;
constexpr int kPad = 4;  // cells: turned stores of A meet other banks, and rows still begin at multiples of 16 bytes

struct alignas(16) Four {
  float cell[4];
};

/// Whether each row of that many cells can be read four cells at a time.
__device__ inline bool has_aligned_rows(const float* matrix, int row_length) {
  return reinterpret_cast<unsigned long long>(matrix) % 16 == 0 && row_length % 4 == 0;
}

/// The next VECTOR cells of a row that ends after `left` of them; 0 beyond.
__device__ inline void load_cells(float (&cells)[VECTOR], const float* from, int left, bool aligned) {
  if (VECTOR == 4 && aligned && left >= VECTOR) {
    const Four four = *reinterpret_cast<const Four*>(from);
    for (int i = 0; i < VECTOR; ++i) cells[i] = four.cell[i];
    return;
  }
  for (int i = 0; i < VECTOR; ++i) cells[i] = i < left ? from[i] : 0.0f;
}

/// COUNT cells in chunks that lie `stride` apart.
template <int COUNT, int CHUNK>
__device__ inline void read_chunks(float (&to)[COUNT], const float* row, int first, int stride) {
#pragma unroll
  for (int chunk = 0; chunk < COUNT / CHUNK; ++chunk) {
    const float* from = row + chunk * stride + first * CHUNK;
    if (CHUNK == 4) {
      const Four four = *reinterpret_cast<const Four*>(from);
      for (int i = 0; i < CHUNK; ++i) to[chunk * CHUNK + i] = four.cell[i];
    } else {
      for (int i = 0; i < CHUNK; ++i) to[chunk * CHUNK + i] = from[i];
    }
  }
}

/// Where a block's tile of C is: blocks go down GROUP tiles along m before they take the next along n.
struct Place {
  int row, column;
};
__device__ inline Place place_of_block(int m, int n) {
  const int tiles_m = (m + TILE_M - 1) / TILE_M;
  const int tiles_n = (n + TILE_N - 1) / TILE_N;
  const int block = static_cast<int>(blockIdx.x);
  const int group = block / (GROUP * tiles_n);
  const int rows = tiles_m - group * GROUP < GROUP ? tiles_m - group * GROUP : GROUP;
  const int in_group = block - group * GROUP * tiles_n;
  return {(group * GROUP + in_group % rows) * TILE_M, in_group / rows * TILE_N};
}

__global__ void __launch_bounds__(kThreads, BLOCKS)
    matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n, int k) {
#if !TILED
  const Place place = place_of_block(m, n);
  const int row = place.row + static_cast<int>(threadIdx.x) / TILE_N;
  const int column = place.column + static_cast<int>(threadIdx.x) % TILE_N;
  if (row >= m || column >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += a[Size{row} * k + i] * b[Size{i} * n + column];
  c[Size{row} * n + column] = sum;
#else
  alignas(16) __shared__ float tile_a[STAGES][TILE_K][TILE_M + kPad];
  alignas(16) __shared__ float tile_b[STAGES][TILE_K][TILE_N + kPad];

  const int thread = static_cast<int>(threadIdx.x);
  const int warp = thread / 32, lane = thread % 32;
  const int warps_n = kThreadsN / LANES_N;
  const int thread_n = warp % warps_n * LANES_N + lane % LANES_N;
  const int thread_m = warp / warps_n * (32 / LANES_N) + lane / LANES_N;
  const Place tile = place_of_block(m, n);
  const bool aligned_a = has_aligned_rows(a, k), aligned_b = has_aligned_rows(b, n);

  float next_a[kLoadsA][VECTOR], next_b[kLoadsB][VECTOR];
  const auto fetch = [&](int at_k) {
#pragma unroll
    for (int i = 0; i < kLoadsA; ++i) {
      const int cell = (thread + i * kThreads) * VECTOR;
      const int row = tile.row + cell / TILE_K, column = at_k + cell % TILE_K;
      load_cells(next_a[i], a + (Size{row} * k + column), row < m ? k - column : 0, aligned_a);
    }
#pragma unroll
    for (int i = 0; i < kLoadsB; ++i) {
      const int cell = (thread + i * kThreads) * VECTOR;
      const int row = at_k + cell / TILE_N, column = tile.column + cell % TILE_N;
      load_cells(next_b[i], b + (Size{row} * n + column), row < k ? n - column : 0, aligned_b);
    }
  };
  const auto keep = [&](int stage) {
#pragma unroll
    for (int i = 0; i < kLoadsA; ++i) {
      const int cell = (thread + i * kThreads) * VECTOR;
      for (int v = 0; v < VECTOR; ++v) tile_a[stage][cell % TILE_K + v][cell / TILE_K] = next_a[i][v];
    }
#pragma unroll
    for (int i = 0; i < kLoadsB; ++i) {
      const int cell = (thread + i * kThreads) * VECTOR;
      float* to = &tile_b[stage][cell / TILE_N][cell % TILE_N];
      if (VECTOR == 4) {
        Four four;
        for (int v = 0; v < VECTOR; ++v) four.cell[v] = next_b[i][v];
        *reinterpret_cast<Four*>(to) = four;
      } else {
        *to = next_b[i][0];
      }
    }
  };

  float sum[ROWS][COLUMNS] = {};
  const auto multiply = [&](int stage) {
#pragma unroll
    for (int i = 0; i < TILE_K; ++i) {
      float left[ROWS], right[COLUMNS];
      read_chunks<ROWS, kChunkM>(left, tile_a[stage][i], thread_m, kThreadsM * kChunkM);
      read_chunks<COLUMNS, kChunkN>(right, tile_b[stage][i], thread_n, kThreadsN * kChunkN);
#pragma unroll
      for (int y = 0; y < ROWS; ++y) {
#pragma unroll
        for (int x = 0; x < COLUMNS; ++x) sum[y][x] += left[y] * right[x];
      }
    }
  };

  if (STAGES == 2) {
    fetch(0);
    keep(0);
    __syncthreads();
    int stage = 0;
    for (int at_k = TILE_K; at_k < k; at_k += TILE_K) {
      fetch(at_k);
      multiply(stage);
      stage = 1 - stage;
      keep(stage);      // everyone has left this stage: the barrier below came after its last multiply
      __syncthreads();  // the next tiles are there
    }
    multiply(stage);
  } else {
    for (int at_k = 0; at_k < k; at_k += TILE_K) {
      fetch(at_k);
      keep(0);
      __syncthreads();  // the tiles are there
      multiply(0);
      __syncthreads();  // everyone is done with them
    }
  }

  const bool aligned_c = has_aligned_rows(c, n);
#pragma unroll
  for (int y = 0; y < ROWS; ++y) {
    const int row = tile.row + y / kChunkM * (kThreadsM * kChunkM) + thread_m * kChunkM + y % kChunkM;
    if (row >= m) continue;
#pragma unroll
    for (int chunk = 0; chunk < COLUMNS / kChunkN; ++chunk) {
      const int column = tile.column + chunk * (kThreadsN * kChunkN) + thread_n * kChunkN;
      float* to = c + (Size{row} * n + column);
      if (VECTOR == 4 && kChunkN == 4 && aligned_c && column + 4 <= n) {
        Four four;
        for (int x = 0; x < kChunkN; ++x) four.cell[x] = sum[y][chunk * kChunkN + x];
        *reinterpret_cast<Four*>(to) = four;
      } else {
        for (int x = 0; x < kChunkN; ++x) {
          if (column + x < n) to[x] = sum[y][chunk * kChunkN + x];
        }
      }
    }
  }
#endif
}

// The textbook's first kernel: a thread a cell of C, every factor from global memory. Sums in f64, to be compared with.
__global__ void matmul_naive(const float* a, const float* b, float* c, int m, int n, int k) {
  const int column = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int row = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (row >= m || column >= n) return;
  double sum = 0;
  for (int i = 0; i < k; ++i) sum += static_cast<double>(a[Size{row} * k + i]) * b[Size{i} * n + column];
  c[Size{row} * n + column] = static_cast<float>(sum);
}
