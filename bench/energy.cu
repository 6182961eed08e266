// What the instructions of stencil kernels cost on this GPU: clocks of a scheduler, and picojoules a lane.
//
//     nvcc -O3 -std=c++17 -arch=native bench/energy.cu -ldl -o energy && ./energy
//
// Eight warps an SM make f64 multiply-adds; other kernels make the same and some more of one kind. What they differ by
// in time and energy (NVML's counter, the whole board) is the kind's. From each energy the power of a GPU whose warps
// sleep is taken off first, for as long as the kernel ran. All on random numbers: zeros cost less. Kernels are to stay
// under the power limit, where clocks, and the voltage with them, stay the same; the table says where they did not.
// Nothing else may use the GPU meanwhile.
#include <cuda_runtime.h>
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace {

constexpr int kThreads = 256;
constexpr int kWarpsOfAScheduler = kThreads / 32 / 4;
constexpr int kChains = 8;                             // chains of a thread that do not wait for each other
constexpr int kMultiplyAdds = 64;                      // multiply-adds of a thread in a turn
constexpr std::size_t kStream = std::size_t{4} << 30;  // bytes that pass through DRAM, far more than L2 holds
constexpr int kResident = 32 << 10;                    // bytes of a block that stay in L2

void require(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
  std::exit(1);
}

/// NVIDIA's management library, which comes with the driver; its header may not be there.
class Sensors {
 public:
  explicit Sensors(const char* bus) : library_(dlopen("libnvidia-ml.so.1", RTLD_NOW)) {
    call<int()>("nvmlInit_v2")();
    require(call<int(const char*, void**)>("nvmlDeviceGetHandleByPciBusId_v2")(bus, &device_));
  }
  unsigned long long millijoules() const {
    unsigned long long energy = 0;
    require(call<int(void*, unsigned long long*)>("nvmlDeviceGetTotalEnergyConsumption")(device_, &energy));
    return energy;
  }
  unsigned sm_mhz() const {
    unsigned mhz = 0;
    require(call<int(void*, int, unsigned*)>("nvmlDeviceGetClockInfo")(device_, 1, &mhz));
    return mhz;
  }
  unsigned limit_watts() const {
    unsigned milliwatts = 0;
    require(call<int(void*, unsigned*)>("nvmlDeviceGetEnforcedPowerLimit")(device_, &milliwatts));
    return milliwatts / 1000;
  }

 private:
  template <class Function>
  Function* call(const char* name) const {
    void* found = library_ != nullptr ? dlsym(library_, name) : nullptr;
    if (found != nullptr) return reinterpret_cast<Function*>(found);
    std::fprintf(stderr, "no %s: is the driver's libnvidia-ml.so.1 there?\n", name);
    std::exit(1);
  }
  static void require(int error) {
    if (error == 0) return;
    std::fprintf(stderr, "NVML: error %d\n", error);
    std::exit(1);
  }

  void* library_;
  void* device_ = nullptr;
};

// ---- what a thread has ----------------------------------------------------------------------------------------------

struct Thread {
  double values[kChains], others[kChains];
  double uniform;  ///< the same in all threads: a uniform register
  float single_uniform;
  double own;  ///< in a register of the thread
  float singles[kChains], other_singles[kChains];
  unsigned words[kChains];
  unsigned shared;       ///< its place in shared memory
  const char* resident;  ///< its place in what stays in L2
  char* stream;          ///< its place in what passes through DRAM
};

// ---- kinds: one more of each ----------------------------------------------------------------------------------------

struct Nothing {
  static __device__ void once(Thread&, int) {}
};
struct MultiplyAddUniform {
  static __device__ void once(Thread& t, int i) {
    t.values[i % kChains] = t.values[i % kChains] * t.uniform + t.others[(i + i / kChains) % kChains];
  }
};
/// One register serves several multiply-adds in a row: it is read once and kept by the pipe (.reuse).
struct MultiplyAddKept {
  static __device__ void once(Thread& t, int i) {
    t.values[i % kChains] = t.values[i % kChains] * t.own + t.others[(i + i / kChains) % kChains];
  }
};
/// All three from registers, and other ones each time.
struct MultiplyAddRegisters {
  static __device__ void once(Thread& t, int i) {
    t.values[i % kChains] = t.values[i % kChains] * t.others[(i + 3) % kChains] + t.others[(i + i / kChains) % kChains];
  }
};
struct Add {
  static __device__ void once(Thread& t, int i) {
    asm volatile("add.f64 %0, %0, %1;" : "+d"(t.values[i % kChains]) : "d"(t.others[i % kChains]));
  }
};
struct SingleMultiplyAdd {
  static __device__ void once(Thread& t, int i) {
    float& x = t.singles[i % kChains];
    x = x * t.single_uniform + t.other_singles[(i + i / kChains) % kChains];
  }
};
struct Integer {  // also what a move or a select takes
  static __device__ void once(Thread& t, int i) {
    asm volatile("add.u32 %0, %0, %1;" : "+r"(t.words[i % kChains]) : "r"(t.words[(i + 1) % kChains]));
  }
};
struct Shuffle {
  static __device__ void once(Thread& t, int i) {
    asm volatile("shfl.sync.up.b32 %0, %0, 1, 0, 0xffffffff;" : "+r"(t.words[i % kChains]));
  }
};
struct SharedLoad {
  static __device__ void once(Thread& t, int i) {
    double value;
    asm volatile("ld.volatile.shared.f64 %0, [%1];" : "=d"(value) : "r"(t.shared + i % 8 * kThreads * 8));
  }
};
struct SharedStore {
  static __device__ void once(Thread& t, int i) {
    asm volatile("st.shared.f64 [%0], %1;" ::"r"(t.shared + i % 8 * kThreads * 8), "d"(t.others[i % kChains]));
  }
};
struct Barrier {
  static __device__ void once(Thread&, int) { __syncthreads(); }
};
struct LoadFromL2 {
  static __device__ void once(Thread& t, int i) {
    double value;
    asm volatile("ld.volatile.global.f64 %0, [%1];" : "=d"(value) : "l"(t.resident + i % 8 * kThreads * 8));
  }
};
/// Fetches from DRAM into L2, no farther.
struct Fetch {
  static __device__ void once(Thread& t, int) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(t.stream));
    t.stream += std::size_t{kThreads} * 8 * gridDim.x;
  }
};
/// Through L2 into DRAM.
struct Store {
  static __device__ void once(Thread& t, int i) {
    asm volatile("st.global.cs.f64 [%0], %1;" ::"l"(t.stream), "d"(t.others[i % kChains]));
    t.stream += std::size_t{kThreads} * 8 * gridDim.x;
  }
};

__device__ double noise(unsigned i) {
  const unsigned low = (i + 1) * 2654435761u, high = (low ^ low >> 15) * 2246822519u;
  return (static_cast<double>(high) + static_cast<double>(low) / 4294967296.0) / 4294967296.0;
}

template <class Kind, int kMore>
__global__ void __launch_bounds__(kThreads, 1)
    turns_of(double* out, char* stream, const char* resident, double uniform, float single_uniform, long long turns) {
  __shared__ double shared[8 * kThreads];
  Thread t;
  const unsigned thread = blockIdx.x * kThreads + threadIdx.x;
  for (int i = 0; i < kChains; ++i) {
    t.values[i] = noise(thread * 64 + i);
    t.others[i] = noise(thread * 64 + 8 + i);
    t.singles[i] = static_cast<float>(noise(thread * 64 + 16 + i));
    t.other_singles[i] = static_cast<float>(noise(thread * 64 + 40 + i));
    t.words[i] = static_cast<unsigned>(noise(thread * 64 + 24 + i) * 4294967296.0);
    shared[i * kThreads + threadIdx.x] = t.others[i];
  }
  t.uniform = uniform;
  t.single_uniform = single_uniform;
  t.own = noise(thread * 64 + 32);
  t.shared = static_cast<unsigned>(__cvta_generic_to_shared(shared + threadIdx.x));
  t.resident = resident + std::size_t{kResident} * blockIdx.x + threadIdx.x * 8;
  t.stream = stream + std::size_t{8} * thread;
  char* const end = stream + kStream - std::size_t{kThreads} * 8 * gridDim.x * (kMore + 1);
  __syncthreads();
#pragma unroll 1
  for (long long turn = 0; turn < turns; ++turn) {
#pragma unroll
    for (int i = 0; i < kMultiplyAdds; ++i) {
      MultiplyAddUniform::once(t, i);
      if (kMore > 0 && (i + 1) % (kMultiplyAdds / (kMore > 0 ? kMore : 1)) == 0)
        Kind::once(t, i * kMore / kMultiplyAdds);
    }
    if (t.stream > end) t.stream = stream + std::size_t{8} * thread;
  }
  double sum = 0;
  for (int i = 0; i < kChains; ++i) sum += t.values[i] + t.singles[i] + t.words[i];
  out[thread] = sum;
}

__global__ void sleep_for(long long clocks) {
  const long long start = clock64();
  while (clock64() - start < clocks) __nanosleep(100000);
}

/// Tensor cores: D = A B + D of 16 x 8, 16 deep. A band of A: the share of a row's places that are no zero.
__global__ void __launch_bounds__(kThreads, 1) multiply_matrices(double* out, double scale, int band, long long turns) {
  const unsigned thread = blockIdx.x * kThreads + threadIdx.x;
  double a[8], b[4], d[4] = {};
  for (int i = 0; i < 8; ++i) {
    const int row = threadIdx.x % 32 / 4 + i % 2 * 8, column = threadIdx.x % 4 + i / 2 * 4;
    a[i] = (column - row % 8 + 16) % 16 < band ? scale * noise(thread * 64 + i) : 0.0;
  }
  for (int i = 0; i < 4; ++i) b[i] = noise(thread * 64 + 8 + i) - 0.5;
#pragma unroll 1
  for (long long turn = 0; turn < turns; ++turn) {
    for (int n = 0; n < 4; ++n) {
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%5,%6,%7,%8,%9,%10,%11}, "
          "{%12,%13,%14,%15}, "
          "{%0,%1,%2,%3};"
          : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
          : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]), "d"(a[7]), "d"(b[n]),
            "d"(b[(n + 1) % 4]), "d"(b[(n + 2) % 4]), "d"(b[(n + 3) % 4]));
    }
  }
  out[thread] = d[0] + d[1] + d[2] + d[3];
}

// ---- measuring ------------------------------------------------------------------------------------------------------

struct Gpu {
  Sensors sensors;
  int multiprocessors;
  double* out;
  char* stream;
  char* resident;
};

struct Reading {
  double seconds;  ///< time of a launch
  double watts;
  unsigned mhz;
};

/// The counter goes on in steps: its value when it has just made one, and that moment in seconds.
struct Moment {
  double joules, seconds;
  explicit Moment(const Sensors& sensors) {
    const unsigned long long first = sensors.millijoules();
    unsigned long long now = first;
    while (now == first) now = sensors.millijoules();
    joules = static_cast<double>(now) * 1e-3;
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
};

template <class Launch>
double seconds_of(const Launch& launch, int launches) {
  cudaEvent_t start, stop;
  require(cudaEventCreate(&start));
  require(cudaEventCreate(&stop));
  require(cudaEventRecord(start));
  for (int i = 0; i < launches; ++i) launch();
  require(cudaEventRecord(stop));
  require(cudaEventSynchronize(stop));
  require(cudaGetLastError());
  float ms = 0;
  require(cudaEventElapsedTime(&ms, start, stop));
  require(cudaEventDestroy(start));
  require(cudaEventDestroy(stop));
  return ms * 1e-3;
}

/// Launches follow each other for two seconds. Half a second passes before energy counts.
template <class Launch>
Reading read(const Gpu& gpu, const Launch& launch) {
  seconds_of(launch, 1);
  const int half_a_second = std::max(1, static_cast<int>(0.5 / seconds_of(launch, 1)));
  Reading reading{};
  reading.seconds = seconds_of(launch, half_a_second) / half_a_second;
  for (int i = 0; i < 3 * half_a_second; ++i) launch();
  const Moment begin(gpu.sensors);
  Moment end = begin;
  while (end.seconds - begin.seconds < 0.8) end = Moment(gpu.sensors);
  reading.watts = (end.joules - begin.joules) / (end.seconds - begin.seconds);
  reading.mhz = gpu.sensors.sm_mhz();
  require(cudaDeviceSynchronize());
  return reading;
}

constexpr long long kTurns = 20000;

template <class Kind, int kMore>
Reading read_turns(const Gpu& gpu) {
  return read(gpu, [&] {
    turns_of<Kind, kMore>
        <<<gpu.multiprocessors, kThreads>>>(gpu.out, gpu.stream, gpu.resident, 0.4321987654321, 0.43219876f, kTurns);
  });
}

/// Beside the multiply-adds alone, by what each draws above a GPU whose warps sleep.
template <class Kind, int kMore>
void measure(const Gpu& gpu, const char* what, const Reading& base, double asleep, int bytes = 0) {
  const Reading more = read_turns<Kind, kMore>(gpu);
  const double lanes = 1.0 * gpu.multiprocessors * kThreads * kTurns * kMore;
  const double joules = (more.watts - asleep) * more.seconds - (base.watts - asleep) * base.seconds;
  const double clocks =
      (more.seconds * more.mhz - base.seconds * base.mhz) * 1e6 / (kTurns * kMore * kWarpsOfAScheduler);
  std::printf("%-44s %4d more  %6.1f W %5u MHz %7.3f ms  %6.2f clocks  %7.2f pJ a lane", what, kMore, more.watts,
              more.mhz, more.seconds * 1e3, clocks, joules / lanes * 1e12);
  if (bytes != 0) std::printf(", %6.2f pJ a byte", joules / lanes * 1e12 / bytes);
  std::printf("\n");
}

void measure_matrices(const Gpu& gpu, const char* what, double scale, int band, double asleep) {
  const Reading reading =
      read(gpu, [&] { multiply_matrices<<<gpu.multiprocessors, kThreads>>>(gpu.out, scale, band, 4000); });
  const double multiply_adds = 1.0 * gpu.multiprocessors * (kThreads / 32) * 4000 * 4 * 2048;
  std::printf("%-54s %6.1f W %5u MHz %7.3f ms  %8.2f pJ each, %.1f T/s\n", what, reading.watts, reading.mhz,
              reading.seconds * 1e3, (reading.watts - asleep) * reading.seconds / multiply_adds * 1e12,
              multiply_adds / reading.seconds * 1e-12);
}

}  // namespace

int main() {
  char bus[32];
  require(cudaDeviceGetPCIBusId(bus, sizeof bus, 0));
  Gpu gpu{Sensors(bus), 0, nullptr, nullptr, nullptr};
  require(cudaDeviceGetAttribute(&gpu.multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  require(cudaMalloc(&gpu.out, sizeof(double) * gpu.multiprocessors * kThreads));
  require(cudaMalloc(&gpu.stream, kStream));
  require(cudaMalloc(&gpu.resident, std::size_t{kResident} * gpu.multiprocessors));
  cudaDeviceProp properties{};
  require(cudaGetDeviceProperties(&properties, 0));
  std::printf("%s, limit %u W; %d SMs of %d threads\n", properties.name, gpu.sensors.limit_watts(), gpu.multiprocessors,
              kThreads);

  const Reading sleeping = read(gpu, [&] { sleep_for<<<gpu.multiprocessors, kThreads>>>(40000000); });
  std::printf("%-54s %6.1f W %5u MHz\n", "warps asleep", sleeping.watts, sleeping.mhz);
  const Reading base = read_turns<Nothing, 0>(gpu);
  const double lanes = 1.0 * gpu.multiprocessors * kThreads * kTurns * kMultiplyAdds;
  std::printf("%-54s %6.1f W %5u MHz %7.3f ms  %8.2f pJ a lane, %.1f T/s\n",
              "64 f64 multiply-adds a turn, uniform factor", base.watts, base.mhz, base.seconds * 1e3,
              (base.watts - sleeping.watts) * base.seconds / lanes * 1e12, lanes / base.seconds * 1e-12);
  const double asleep = sleeping.watts;
  measure<MultiplyAddUniform, 16>(gpu, "f64 multiply-add, uniform factor", base, asleep);
  measure<MultiplyAddKept, 16>(gpu, "f64 multiply-add, factor kept from a register", base, asleep);
  measure<MultiplyAddRegisters, 16>(gpu, "f64 multiply-add, three registers", base, asleep);
  measure<Add, 16>(gpu, "f64 addition", base, asleep);
  measure<SingleMultiplyAdd, 32>(gpu, "f32 multiply-add, uniform factor", base, asleep);
  measure<Integer, 32>(gpu, "integer addition", base, asleep);
  measure<Shuffle, 8>(gpu, "shuffle of 4 bytes", base, asleep);
  measure<SharedLoad, 8>(gpu, "shared memory, load of 8 bytes", base, asleep, 8);
  measure<SharedStore, 8>(gpu, "shared memory, store of 8 bytes", base, asleep, 8);
  measure<Barrier, 2>(gpu, "barrier of 8 warps", base, asleep);
  measure<LoadFromL2, 2>(gpu, "L2, load of 8 bytes", base, asleep, 8);
  measure<Fetch, 1>(gpu, "DRAM to L2, 8 bytes", base, asleep, 8);
  measure<Store, 1>(gpu, "store of 8 bytes to DRAM", base, asleep, 8);
  measure_matrices(gpu, "f64 multiply-adds of tensor cores", 1.0 / 16, 16, asleep);
  measure_matrices(gpu, "the same, 7 of 16 places of A no zeros", 1.0 / 16, 7, asleep);
}
