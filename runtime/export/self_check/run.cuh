void require(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(2);
}

// One array on the GPU, every byte 0xff.
struct Array {
  long long cells;
  Cell* data = nullptr;
  explicit Array(long long count) : cells(count) {
    require(cudaMalloc(reinterpret_cast<void**>(&data), static_cast<std::size_t>(cells) * sizeof(Cell)), "cudaMalloc");
    require(cudaMemset(data, 0xff, static_cast<std::size_t>(cells) * sizeof(Cell)), "cudaMemset");
  }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  ~Array() { cudaFree(data); }
};

using Arrays = std::vector<std::unique_ptr<Array>>;

// An array of time has more than the steps of a check.
long long cells_along(int along, const long long (&n)[3]) {
  if (along == 8) return 128;
  long long cells = 1;
  for (int a = 0; a < 3; ++a) {
    if ((along & (1 << a)) != 0) cells *= n[a];
  }
  return cells;
}

long long cells_of(const Buffer& buffer, const long long (&n)[3], long long pitch) {
  return kPlaces[buffer.place].along == 0 ? pitch * n[1] * n[2] : cells_along(kPlaces[buffer.place].along, n);
}

Arrays make_arrays(const long long (&n)[3], long long pitch) {
  Arrays arrays;
  for (const Buffer& buffer : kBuffers) {
    arrays.push_back(std::unique_ptr<Array>(new Array(cells_of(buffer, n, pitch))));
  }
  return arrays;
}

bool is_inside(const long long (&held)[3][2], const long long (&n)[3], long long x, long long y, long long z) {
  const long long at[3] = {x, y, z};
  for (int a = 0; a < 3; ++a) {
    if (at[a] < held[a][0] || at[a] >= n[a] - held[a][1]) return false;
  }
  return true;
}

// Calls visit(index, x, y, z) for every cell.
template <class Visit>
void for_each_cell(const long long (&n)[3], Visit visit) {
  std::size_t index = 0;
  for (long long z = 0; z < n[2]; ++z) {
    for (long long y = 0; y < n[1]; ++y) {
      for (long long x = 0; x < n[0]; ++x) visit(index++, x, y, z);
    }
  }
}

// Random cells for every place. Layers that the boundary holds are the same in all buffers that take turns.
Fields random_fields(const long long (&n)[3]) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(0.25, 1);  // positive: safe to divide by or to take a root of
  Fields fields;
  for (const Place& place : kPlaces) {
    const long long cells = cells_along(place.along == 0 ? 7 : place.along, n);
    fields.emplace_back();
    for (long long i = 0; i < cells; ++i) {
      Cell cell;
      narrow(kBits ? static_cast<double>(random() % 2) : uniform(random), cell);
      fields.back().push_back(widen(cell));
    }
    if (place.along != 0) continue;
    for_each_cell(n, [&](std::size_t i, long long x, long long y, long long z) {
      if (!is_inside(kHeld, n, x, y, z)) fields.back()[i] = fields[static_cast<std::size_t>(place.layers_of)][i];
    });
  }
  return fields;
}

// What the kernel reads; of other buffers the held layers alone.
void upload(const Buffer& buffer, const std::vector<double>& values, const Array& array, const long long (&n)[3],
            long long pitch) {
  std::vector<Cell> stored(static_cast<std::size_t>(array.cells));
  std::memset(static_cast<void*>(stored.data()), 0xff, stored.size() * sizeof(Cell));
  if (kPlaces[buffer.place].along != 0) {
    for (std::size_t i = 0; i < values.size(); ++i) narrow(values[i], stored[i]);
  } else {
    for_each_cell(n, [&](std::size_t i, long long x, long long y, long long z) {
      if (!buffer.is_read && is_inside(kHeld, n, x, y, z)) return;
      narrow(values[i], stored[static_cast<std::size_t>((z * n[1] + y) * pitch + x)]);
    });
  }
  require(cudaMemcpy(array.data, stored.data(), stored.size() * sizeof(Cell), cudaMemcpyHostToDevice), "cudaMemcpy");
}

// One step, one plain sweep after the other. A sweep reads nothing that it writes.
void plain_step(Fields& fields, const long long (&n)[3], long long t) {
  for (const Stage& stage : kStages) {
    for_each_cell(n, [&](std::size_t i, long long x, long long y, long long z) {
      if (!is_inside(stage.held, n, x, y, z)) {
        for (int o = 0; o < stage.outputs; ++o) {
          fields[static_cast<std::size_t>(stage.fields[o])][i] = fields[static_cast<std::size_t>(stage.layers[o])][i];
        }
        return;
      }
      double out[kMostOutputs];
      stage.update(fields, n, x, y, z, t, out);
      for (int o = 0; o < stage.outputs; ++o) fields[static_cast<std::size_t>(stage.fields[o])][i] = out[o];
    });
  }
  rotate(fields);
}

// What launches of so many steps leave, each operation off by `rounding` at most, and each cell that a launch stores.
Fields plain_run(const Fields& start, const long long (&n)[3], const std::vector<int>& launches, double rounding,
                 unsigned seed) {
  Fields fields = start;
  noise = rounding;
  dice.seed(seed);
  long long t = kFirstStep;
  for (const int steps : launches) {
    for (int step = 0; step < steps; ++step) plain_step(fields, n, t++);
    for (const Result& result : kLaunched) {
      if (rounding == 0 || kStorageUnit == 0) break;
      for_each_cell(n, [&](std::size_t i, long long x, long long y, long long z) {
        double& cell = fields[static_cast<std::size_t>(result.field)][i];
        if (is_inside(kStages[result.stage].held, n, x, y, z)) cell = off(cell, kStorageUnit);
      });
    }
  }
  return fields;
}

// Compares every cell with the first of the runs. The two others say how far rounding takes a cell: a kernel's may lie
// sixteen times as far off, its own and the mean of all together. Returns the number of wrong ones.
long long wrong_cells(const Fields (&runs)[3], const Result& result, const Array& array, const long long (&n)[3],
                      long long pitch) {
  const auto field = static_cast<std::size_t>(result.field);
  const std::vector<double>& expected = runs[0][field];
  std::vector<double> spread(expected.size());
  double sum = 0, size = 0;
  long long known = 0;
  for (std::size_t i = 0; i < spread.size(); ++i) {
    spread[i] = std::fabs(runs[1][field][i] - expected[i]) + std::fabs(runs[2][field][i] - expected[i]);
    if (!std::isfinite(spread[i])) continue;
    ++known;
    sum += spread[i];
    size += std::fabs(expected[i]);
  }
  if (2 * known < static_cast<long long>(spread.size()) || 32 * sum > size) {
    std::fprintf(stderr, "%s: rounding alone decides what most cells are\n", result.name);
    return static_cast<long long>(spread.size());
  }
  std::vector<Cell> found(static_cast<std::size_t>(array.cells));
  require(cudaMemcpy(found.data(), array.data, found.size() * sizeof(Cell), cudaMemcpyDeviceToHost), "cudaMemcpy");
  long long wrong = 0;
  for_each_cell(n, [&](std::size_t i, long long x, long long y, long long z) {
    if (!std::isfinite(spread[i])) return;
    const double cell = widen(found[static_cast<std::size_t>((z * n[1] + y) * pitch + x)]);
    double allowed = 0;
    if (is_inside(kStages[result.stage].held, n, x, y, z)) {
      allowed = 16 * (spread[i] + sum / static_cast<double>(known)) + 2 * kStorageUnit * std::fabs(expected[i]);
    }
    if (std::fabs(cell - expected[i]) <= allowed || ++wrong > 1) return;
    std::fprintf(stderr, "first wrong cell: %lld, %lld, %lld of %s is %g, not %g\n", x, y, z, result.name, cell,
                 expected[i]);
  });
  return wrong;
}

// Makes the launches by `call` on a small grid and compares every cell of what they leave. Returns whether all is
// right.
template <class Call, std::size_t count>
bool check(const char* what, const std::vector<int>& launches, const Result (&results)[count], const long long (&n)[3],
           long long pitch, Call call) {
  const Fields start = random_fields(n);
  const Arrays arrays = make_arrays(n, pitch);
  std::vector<Cell*> buffers;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    upload(kBuffers[i], start[static_cast<std::size_t>(kBuffers[i].place)], *arrays[i], n, pitch);
    buffers.push_back(arrays[i]->data);
  }
  require(call(buffers.data()), what);

  const Fields runs[3] = {plain_run(start, n, launches, 0, 1), plain_run(start, n, launches, 2 * kUnit, 1),
                          plain_run(start, n, launches, 2 * kUnit, 2)};
  long long wrong = 0;
  for (const Result& result : results) {
    for (const auto& array : arrays) {
      if (array->data != buffers[static_cast<std::size_t>(result.buffer)]) continue;
      wrong += wrong_cells(runs, result, *array, n, pitch);
    }
  }
  int steps = 0;
  for (const int each : launches) steps += each;
  std::printf("self-check of %s, %d step%s on %lld x %lld x %lld: %s (%lld wrong cells)\n", what, steps,
              steps == 1 ? "" : "s", n[0], n[1], n[2], wrong == 0 ? "right" : "WRONG", wrong);
  return wrong == 0;
}

// Median milliseconds of one launch, after 100 ms of warming up. Launches are timed in batches, so that the time
// between two of them does not count, and buffers change places as in a time loop. On random numbers: on a constant
// some kernels are faster.
double measure(const long long (&n)[3], long long pitch) {
  const Arrays arrays = make_arrays(n, pitch);
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(0.25, 1);
  std::vector<Cell> numbers(static_cast<std::size_t>(std::min(pitch * n[1] * n[2], 1LL << 20)));
  for (Cell& number : numbers) narrow(uniform(random), number);
  std::vector<Cell*> buffers;
  for (const auto& array : arrays) {
    auto filled = std::min(static_cast<long long>(numbers.size()), array->cells);
    require(cudaMemcpy(array->data, numbers.data(), static_cast<std::size_t>(filled) * sizeof(Cell),
                       cudaMemcpyHostToDevice),
            "cudaMemcpy");
    for (; filled < array->cells; filled *= 2) {
      require(cudaMemcpy(array->data + filled, array->data,
                         static_cast<std::size_t>(std::min(filled, array->cells - filled)) * sizeof(Cell),
                         cudaMemcpyDeviceToDevice),
              "cudaMemcpy");
    }
    buffers.push_back(array->data);
  }
  cudaEvent_t start, stop;
  require(cudaEventCreate(&start), "cudaEventCreate");
  require(cudaEventCreate(&stop), "cudaEventCreate");
  const auto batch = [&](int launches) {
    float ms = 0;
    require(cudaEventRecord(start), "cudaEventRecord");
    for (int i = 0; i < launches; ++i) {
      require(launch(buffers.data(), n, pitch), "launch");
      const std::vector<Cell*> before = buffers;
      for (std::size_t b = 0; b < buffers.size(); ++b) buffers[b] = before[static_cast<std::size_t>(kBuffers[b].next)];
    }
    require(cudaEventRecord(stop), "cudaEventRecord");
    require(cudaEventSynchronize(stop), "cudaEventSynchronize");
    require(cudaEventElapsedTime(&ms, start, stop), "cudaEventElapsedTime");
    return ms;
  };
  int launches = 1;
  float warm = 0;
  while (warm < 100) {
    const float ms = batch(launches);
    warm += ms;
    if (ms < 5) launches *= 2;
  }
  std::vector<double> times;
  for (int i = 0; i < 31; ++i) times.push_back(static_cast<double>(batch(launches)) / launches);
  cudaEventDestroy(start);
  cudaEventDestroy(stop);
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

void time_launches(const long long (&n)[3], long long pitch) {
  const double ms = measure(n, pitch);
  double cells = 1, updated = 1;
  for (int a = 0; a < 3; ++a) {
    cells *= static_cast<double>(n[a]);
    updated *= static_cast<double>(n[a] - kHeld[a][0] - kHeld[a][1]);
  }
  const double bytes = (kFieldsRead * cells + kFieldsWritten * updated) * sizeof(Cell);
  std::printf("%lld x %lld x %lld: %.4f ms, %.1f GStencil/s, %.0f GB/s\n", n[0], n[1], n[2], ms,
              kSteps * updated / ms / 1e6, bytes / ms / 1e6);
}
