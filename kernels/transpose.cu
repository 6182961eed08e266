/* stencil-tune
kernel = "transpose"
about = "the transpose of a matrix, row-major, f32, any m and n"

[sizes]
m = 8192
n = 8192

[parameters]
SHARED = [0, 1]
TILE = [16, 32, 64]
BLOCK_ROWS = [2, 4, 8, 16, 32]
PAD = [0, 1]

[default]  # the textbook's kernel
SHARED = 0
TILE = 16
BLOCK_ROWS = 16
PAD = 0

[rules]
"block rows divide the tile" = "TILE % BLOCK_ROWS == 0"
"a block has 64 to 1024 threads" = "TILE * BLOCK_ROWS >= 64 && TILE * BLOCK_ROWS <= 1024"
"only shared memory is padded" = "SHARED == 1 || PAD == 0"

[launch]
block = ["TILE", "BLOCK_ROWS"]
grid = ["ceil_div(n, TILE) * ceil_div(m, TILE)"]

[[arguments]]
name = "in"
type = "f32*"
length = "m * n"
fill = "random"

[[arguments]]
name = "out"
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

[reference]
kernel = "transpose_naive"
block = ["16", "16"]
grid = ["ceil_div(n, 16)", "ceil_div(m, 16)"]
tolerance = 0

[counts]
bytes = "8 * m * n"
*/

// Matrix transpose through a tile in shared memory.
//
//      in, m x n                  shared                     out, n x m
//    +---+---+---+           tile[TILE][TILE + PAD]         +---+---+
//    |   | t |   |   rows ->   written by rows   -> rows    |   |   |
//    +---+---+---+             read by columns              +---+---+
//    |   |   |   |                                          | t |   |
//    +---+---+---+                                          +---+---+
//
// A warp reads a row of `in` and writes a row of `out`: both are contiguous in memory. The turn is made in shared
// memory, where a column lies in one bank unless rows are padded by a cell. A thread moves TILE / BLOCK_ROWS cells; all
// its loads are under way at once. One barrier, between the loads and the stores.
//
//   SHARED  0: the textbook's kernel, whose stores go down a column of `out`, TILE rows apart in memory
//   TILE    rows and columns of a block's tile     BLOCK_ROWS  rows of it that the threads cover at once
//   PAD     cells after each row in shared memory
//
// m and n are any: threads outside of the matrix neither load nor store.

using Size = long long;

constexpr int kSteps = TILE / BLOCK_ROWS;

__global__ void __launch_bounds__(TILE* BLOCK_ROWS)
    transpose(const float* __restrict__ in, float* __restrict__ out, int m, int n) {
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const int tiles_n = (n + TILE - 1) / TILE;
  const int row = static_cast<int>(blockIdx.x) / tiles_n * TILE, column = static_cast<int>(blockIdx.x) % tiles_n * TILE;

  float cells[kSteps];
#pragma unroll
  for (int i = 0; i < kSteps; ++i) {
    const int from = row + y + i * BLOCK_ROWS;
    cells[i] = from < m && column + x < n ? in[Size{from} * n + column + x] : 0.0f;
  }
#if SHARED
  __shared__ float tile[TILE][TILE + PAD];
#pragma unroll
  for (int i = 0; i < kSteps; ++i) tile[y + i * BLOCK_ROWS][x] = cells[i];
  __syncthreads();  // the tile is there
#pragma unroll
  for (int i = 0; i < kSteps; ++i) {
    const int to = column + y + i * BLOCK_ROWS;
    if (to < n && row + x < m) out[Size{to} * m + row + x] = tile[x][y + i * BLOCK_ROWS];
  }
#else
#pragma unroll
  for (int i = 0; i < kSteps; ++i) {
    const int from = row + y + i * BLOCK_ROWS;
    if (from < m && column + x < n) out[Size{column + x} * m + from] = cells[i];
  }
#endif
}

// The textbook's kernel: a thread a cell. A warp's stores lie m cells apart.
__global__ void transpose_naive(const float* in, float* out, int m, int n) {
  const int column = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int row = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (row < m && column < n) out[Size{column} * m + row] = in[Size{row} * n + column];
}
