/* stencil-tune
kernel = "convolution2d"
about = "2D convolution with ghost cells of 0, f32; the mask has (2 * radius + 1)^2 weights"

[sizes]
width = 8192
height = 8192
pitch = 0     # cells from a row of the input to the next, where that is more than width
radius = 3

[parameters]
RADIUS = [1, 2, 3, 4, 5, 6, 7]
BLOCK_X = [16, 32, 64]
BLOCK_Y = [2, 4, 8, 16]
CELLS_X = [1, 2, 4]
CELLS_Y = [1, 2, 4, 8]
SHARED = [0, 1]
MASK = [0, 1, 2]

[default]  # the textbook's kernel
RADIUS = "radius"
BLOCK_X = 16
BLOCK_Y = 16
CELLS_X = 1
CELLS_Y = 1
SHARED = 0
MASK = 0

[rules]
"RADIUS is the mask's" = "RADIUS == radius"
"a block has 64 to 1024 threads" = "BLOCK_X * BLOCK_Y >= 64 && BLOCK_X * BLOCK_Y <= 1024"
"a thread holds up to 16 outputs" = "CELLS_X * CELLS_Y <= 16"
"static shared memory has 48 KiB" = "(BLOCK_X * CELLS_X + 2 * RADIUS) * (BLOCK_Y * CELLS_Y + 2 * RADIUS) <= 12000"

[launch]
block = ["BLOCK_X", "BLOCK_Y"]
grid = ["ceil_div(width, BLOCK_X * CELLS_X)", "ceil_div(height, BLOCK_Y * CELLS_Y)"]

[[arguments]]
name = "in"
type = "f32*"
length = "max(width, pitch) * height"
fill = "random"

[[arguments]]
name = "mask"
type = "f32*"
length = "(2 * radius + 1)^2"
fill = "random"
symbol = "constant_mask"

[[arguments]]
name = "out"
type = "f32*"
length = "width * height"
output = true

[[arguments]]
name = "width"
type = "i32"
value = "width"

[[arguments]]
name = "height"
type = "i32"
value = "height"

[[arguments]]
name = "pitch"
type = "i32"
value = "max(width, pitch)"

[[arguments]]
name = "radius"
type = "i32"
value = "radius"

[reference]
kernel = "convolution2d_naive"
block = ["16", "16"]
grid = ["ceil_div(width, 16)", "ceil_div(height, 16)"]
tolerance = 1e-5

[counts]
flops = "2 * width * height * (2 * radius + 1)^2"
bytes = "8 * width * height"
*/

// 2D convolution of an image, row-major; cells outside of it are 0.
//
//        input tile of a block, with its halo        shared: tile[kTileY + 2 * RADIUS][kTileX + 2 * RADIUS]
//      + - - - - - - - - - - - +                     loaded by all threads, row after row; ghost cells are 0
//        halo, RADIUS cells
//      |  +-----------------+  |                     registers: a thread's CELLS_X x CELLS_Y sums. Along x its cells
//      lie
//         | output tile     |                        BLOCK_X apart, so that a warp reads contiguous cells; along y they
//      |  | kTileX x kTileY |  |                     follow each other, so that a row of the tile that is read once
//         +-----------------+                        serves all sums that it is in reach of.
//      |                       |
//      + - - - - - - - - - - - +                     One barrier, between loading and computing.
//
//   BLOCK_X, BLOCK_Y  threads                 SHARED  0: cells come from the cache, each thread checks its own
//   CELLS_X, CELLS_Y  outputs of a thread     MASK    where weights come from: 0 global memory, 1 shared, 2 constant
//   RADIUS            weights on each side of the middle: a constant, so that the loops over them are unrolled
//
// Rows of the input lie `pitch` cells apart, as where an image is padded; the output has no padding.
//
// The textbook's basic kernel: SHARED = 0, CELLS_X = CELLS_Y = 1, MASK = 0; its tiled one has SHARED = 1, and MASK = 2
// where the mask is in constant memory.

using Size = long long;

constexpr int kWeights = 2 * RADIUS + 1;  // in a row
constexpr int kTileX = BLOCK_X * CELLS_X;
constexpr int kTileY = BLOCK_Y * CELLS_Y;
constexpr int kThreads = BLOCK_X * BLOCK_Y;

__constant__ float constant_mask[kWeights * kWeights];

struct Image {
  const float* cells;
  int width, height, pitch;

  __device__ float cell_or_ghost(int x, int y) const {
    return x >= 0 && x < width && y >= 0 && y < height ? cells[Size{y} * pitch + x] : 0.0f;
  }
};

__global__ void __launch_bounds__(kThreads)
    convolution2d(const float* __restrict__ in, const float* __restrict__ mask, float* __restrict__ out, int width,
                  int height, int pitch, int) {
  const Image image{in, width, height, pitch};
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const int left = static_cast<int>(blockIdx.x) * kTileX, top = static_cast<int>(blockIdx.y) * kTileY;

#if MASK == 1
  __shared__ float weights[kWeights * kWeights];
  for (int i = y * BLOCK_X + x; i < kWeights * kWeights; i += kThreads) weights[i] = mask[i];
#elif MASK == 2
  const float(&weights)[kWeights * kWeights] = constant_mask;
#else
  const float* weights = mask;
#endif
#if SHARED
  constexpr int kRows = kTileY + 2 * RADIUS, kRow = kTileX + 2 * RADIUS;
  __shared__ float tile[kRows][kRow];
  for (int row = y; row < kRows; row += BLOCK_Y) {
    for (int column = x; column < kRow; column += BLOCK_X) {
      tile[row][column] = image.cell_or_ghost(left - RADIUS + column, top - RADIUS + row);
    }
  }
#endif
#if SHARED || MASK == 1
  __syncthreads();  // cells and weights are there
#endif

  float sum[CELLS_Y][CELLS_X] = {};
#pragma unroll
  for (int row = 0; row < CELLS_Y + 2 * RADIUS; ++row) {  // rows of the cells that the thread reads
    const int from_y = y * CELLS_Y + row;
#pragma unroll
    for (int j = 0; j < kWeights; ++j) {
      float cells[CELLS_X];
#pragma unroll
      for (int i = 0; i < CELLS_X; ++i) {
        const int from_x = x + i * BLOCK_X + j;
#if SHARED
        cells[i] = tile[from_y][from_x];
#else
        cells[i] = image.cell_or_ghost(left - RADIUS + from_x, top - RADIUS + from_y);
#endif
      }
#pragma unroll
      for (int output = 0; output < CELLS_Y; ++output) {
        const int weight_row = row - output;
        if (weight_row < 0 || weight_row >= kWeights) continue;
        const float weight = weights[weight_row * kWeights + j];
#pragma unroll
        for (int i = 0; i < CELLS_X; ++i) sum[output][i] += cells[i] * weight;
      }
    }
  }
#pragma unroll
  for (int output = 0; output < CELLS_Y; ++output) {
    const int to_y = top + y * CELLS_Y + output;
#pragma unroll
    for (int i = 0; i < CELLS_X; ++i) {
      const int to_x = left + x + i * BLOCK_X;
      if (to_x < width && to_y < height) out[Size{to_y} * width + to_x] = sum[output][i];
    }
  }
}

// The textbook's basic kernel, with sums in f64 to be compared with.
__global__ void convolution2d_naive(const float* in, const float* mask, float* out, int width, int height, int pitch,
                                    int radius) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= width || y >= height) return;
  double sum = 0;
  for (int j = 0; j <= 2 * radius; ++j) {
    for (int i = 0; i <= 2 * radius; ++i) {
      const int from_x = x - radius + i, from_y = y - radius + j;
      if (from_x < 0 || from_x >= width || from_y < 0 || from_y >= height) continue;
      sum += static_cast<double>(in[Size{from_y} * pitch + from_x]) * mask[j * (2 * radius + 1) + i];
    }
  }
  out[Size{y} * width + x] = static_cast<float>(sum);
}
