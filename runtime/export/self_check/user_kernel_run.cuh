// A cell as a number, and back.
static size_t width(Type type) {
  switch (type) {
    case f64:
    case i64:
    case u64:
      return 8;
    case f16:
    case bf16:
      return 2;
    case u8:
      return 1;
    default:
      return 4;
  }
}

template <class Cell>
static double load(const unsigned char* at) {
  Cell cell;
  std::memcpy(&cell, at, sizeof cell);
  return static_cast<double>(cell);
}

static double cell_at(Type type, const unsigned char* at) {
  switch (type) {
    case f32:
      return load<float>(at);
    case f64:
      return load<double>(at);
    case f16: {
      __half cell;
      std::memcpy(&cell, at, sizeof cell);
      return __half2float(cell);
    }
    case bf16: {
      __nv_bfloat16 cell;
      std::memcpy(&cell, at, sizeof cell);
      return __bfloat162float(cell);
    }
    case i32:
      return load<int>(at);
    case u32:
      return load<unsigned>(at);
    case i64:
      return load<long long>(at);
    case u64:
      return load<unsigned long long>(at);
    default:
      return *at;
  }
}

template <class Cell>
static void store(unsigned char* at, Cell cell) {
  std::memcpy(at, &cell, sizeof cell);
}

static void put(Type type, unsigned char* at, double value) {
  switch (type) {
    case f32:
      return store(at, static_cast<float>(value));
    case f64:
      return store(at, value);
    case f16:
      return store(at, __float2half(static_cast<float>(value)));
    case bf16:
      return store(at, __float2bfloat16(static_cast<float>(value)));
    case i32:
      return store(at, static_cast<int>(value));
    case u32:
      return store(at, static_cast<unsigned>(value));
    case i64:
      return store(at, static_cast<long long>(value));
    case u64:
      return store(at, static_cast<unsigned long long>(value));
    default:
      *at = static_cast<unsigned char>(value);
  }
}

static bool is_floating(Type type) { return type <= bf16; }

static double next_random() {  // 0..1
  static std::uint64_t state = 1;
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return static_cast<double>(state >> 40) / static_cast<double>(1 << 24);
}

static double filled(const Array& array, long long i) {
  const bool has_sign = is_floating(array.type) || array.type == i32 || array.type == i64;
  switch (array.fill) {
    case random_cells:
      return is_floating(array.type) ? 2 * next_random() - 1 : std::floor(256 * next_random());
    case integers:
      return std::floor(17 * next_random()) - (has_sign ? 8 : 0);
    case index:
      return static_cast<double>(i);
    case number:
      return array.fill_number;
    default:
      return 0;
  }
}

static std::vector<unsigned char> cells_of(const Array& array) {
  std::vector<unsigned char> cells(static_cast<size_t>(array.cells) * width(array.type), 0xff);
  if (array.is_output) return cells;
  for (long long i = 0; i < array.cells; ++i) put(array.type, &cells[i * width(array.type)], filled(array, i));
  return cells;
}

static long long wrong_cells(const Array& array, const std::vector<unsigned char>& found,
                             const std::vector<unsigned char>& right) {
  const bool may_differ = array.is_compared && is_floating(array.type);  // else all bits must be equal
  long long wrong = 0;
  for (long long i = 0; i < array.cells; ++i) {
    const size_t at = i * width(array.type);
    const double x = cell_at(array.type, &found[at]), r = cell_at(array.type, &right[at]);
    const bool is_right = std::memcmp(&found[at], &right[at], width(array.type)) == 0 ||
                          (may_differ && (std::isnan(r) ? std::isnan(x)
                                                        : std::fabs(x - r) <= kTolerance * std::fmax(1.0, std::fabs(r))));
    if (is_right) continue;
    if (wrong++ == 0) std::printf("%s[%lld] is %g instead of %g\n", array.name, i, x, r);
  }
  return wrong;
}

static bool failed(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return false;
  std::printf("%s: %s\n", what, cudaGetErrorString(status));
  return true;
}

static int run() {
  constexpr int kArrayCount = sizeof kArrays / sizeof kArrays[0];
  std::vector<std::vector<unsigned char>> cells;
  void *mine[kArrayCount], *right[kArrayCount];
  for (int i = 0; i < kArrayCount; ++i) {
    cells.push_back(cells_of(kArrays[i]));
    for (void** array : {&mine[i], &right[i]}) {
      if (failed(cudaMalloc(array, cells[i].size()), "memory")) return 1;
      if (failed(cudaMemcpy(*array, cells[i].data(), cells[i].size(), cudaMemcpyHostToDevice), "copy")) return 1;
    }
  }
  if (failed(run_kernel(mine), kName) || failed(run_reference(right), "the reference")) return 1;
  if (failed(cudaDeviceSynchronize(), "a kernel")) return 1;
  long long wrong = 0;
  for (int i = 0; i < kArrayCount; ++i) {
    std::vector<unsigned char> found(cells[i].size()), expected(cells[i].size());
    if (failed(cudaMemcpy(found.data(), mine[i], found.size(), cudaMemcpyDeviceToHost), "copy")) return 1;
    if (failed(cudaMemcpy(expected.data(), right[i], expected.size(), cudaMemcpyDeviceToHost), "copy")) return 1;
    wrong += wrong_cells(kArrays[i], found, expected);
  }
  std::printf("self-check of %s, %s: %s\n", kName, kSizes, wrong == 0 ? "right" : "WRONG");
  if (wrong > 0) return 1;

  constexpr int kLaunches = 20;
  cudaEvent_t start, stop;
  cudaEventCreate(&start);
  cudaEventCreate(&stop);
  for (int i = 0; i < kLaunches; ++i) run_kernel(mine);
  cudaEventRecord(start);
  for (int i = 0; i < kLaunches; ++i) run_kernel(mine);
  cudaEventRecord(stop);
  if (failed(cudaEventSynchronize(stop), "a kernel")) return 1;
  float milliseconds = 0;
  cudaEventElapsedTime(&milliseconds, start, stop);
  milliseconds /= kLaunches;
  std::printf("%.4f ms a launch, %.1f %s\n", milliseconds, kCount / milliseconds, kUnit);
  return 0;
}
