// The public library on a real GPU: what the fake driver cannot show.
#include "stencil_tune/stencil_tune.hpp"

#include "generator/kernel_source/signature.hpp"
#include "gpu_test.hpp"
#include "graph_capture.hpp"
#include "runtime/compile/caching_compiler.hpp"
#include "runtime/library/library_parts.hpp"
#include "tuner/verify/reference/reference.hpp"

#include <cuda.h>

#include <cstring>
#include <random>
#include <thread>

namespace stencil_tune {
namespace {

constexpr Extents kGrid{.rank = 3, .n = {61, 38, 33}};
constexpr const char* kRing = "streaming.bx32.by4.rx1.ry4.cz8.ring.pf2";

template <class Cell>
constexpr ElementType kType = std::is_same_v<Cell, double> ? ElementType::f64 : ElementType::f32;

template <class Cell>
std::vector<Cell> random_cells(std::uint64_t seed, const Extents& grid = kGrid) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<Cell> cells(static_cast<std::size_t>(grid.cells()));
  for (Cell& cell : cells) cell = static_cast<Cell>(uniform(random));
  return cells;
}

template <class Cell>
void upload(DeviceField& field, const std::vector<Cell>& cells) {
  field.copy_from(std::as_bytes(std::span(cells)));
}

template <class Cell>
std::vector<Cell> download(const DeviceField& field) {
  std::vector<Cell> cells(static_cast<std::size_t>(kGrid.cells()));
  field.copy_to(std::as_writable_bytes(std::span(cells)));
  return cells;
}

template <class Cell>
Request request_for(const Stencil& stencil, Boundaries boundaries = {}) {
  return {.stencil = stencil,
          .type = kType<Cell>,
          .extents = kGrid,
          .boundaries = boundaries,
          .pitch = padded_pitch(kGrid.n[0], kType<Cell>)};
}

/// Some steps from `in`, on the cells of the box; the others keep what `before` has.
template <class Cell>
void expect_steps(int steps, const Request& request, const std::vector<Cell>& in, const std::vector<Cell>& before,
                  const std::vector<Cell>& found, const Box& box) {
  const Problem problem = make_problem(request.stencil, request.type, request.boundaries, request.extents);
  std::vector<double> coefficients;
  for (const Coefficient& c : request.stencil.coefficients) coefficients.push_back(c.value);
  const std::vector<std::vector<double>> inputs{{in.begin(), in.end()}};
  const ReferenceField expected = evaluate_reference(problem, inputs, coefficients, false, steps).front();
  std::size_t i = 0;
  for (std::int64_t z = 0; z < kGrid.n[2]; ++z) {
    for (std::int64_t y = 0; y < kGrid.n[1]; ++y) {
      for (std::int64_t x = 0; x < kGrid.n[0]; ++x, ++i) {
        const bool inside = x >= box.low[0] && x < box.high[0] && y >= box.low[1] && y < box.high[1] &&
                            z >= box.low[2] && z < box.high[2];
        const bool right = inside ? expected.accepts(i, found[i]) : found[i] == before[i];
        ASSERT_TRUE(right) << x << ", " << y << ", " << z << ": " << found[i] << " is not "
                           << (inside ? expected.value[i] : static_cast<double>(before[i]));
      }
    }
  }
}

template <class Cell>
void expect_step(const Request& request, const std::vector<Cell>& in, const std::vector<Cell>& before,
                 const std::vector<Cell>& found, const Box& box) {
  expect_steps(1, request, in, before, found, box);
}

class DeviceLibrary : public GpuTest<> {
 protected:
  void SetUp() override {
    GpuTest<>::SetUp();
    if (IsSkipped()) return;
    functions_.emplace();
    context_.emplace(0);
    stream_.emplace(cuda_driver());
  }

  /// A library that knows one winner, of this GPU and runs of so many steps; without a code it knows none. Nothing is
  /// cached.
  Library library_with(const std::string& winner_code = "", bool in_background = false, int steps = 1) {
    LibraryParts parts;
    parts.driver = []() -> Driver& { return cuda_driver(); };
    parts.compiler = [] { return std::shared_ptr<Compiler>(open_nvrtc()); };
    parts.compile_in_background = in_background;
    parts.winners = [this, winner_code, steps](const Problem& problem, const std::string& architecture) {
      WinnerRecord winner;
      winner.trial.problem = {.stencil_key = stencil_key(problem.stencil),
                              .stencil_name = "",
                              .type = problem.type,
                              .boundaries = problem.boundaries,
                              .extents = problem.extents,
                              .pitch = problem.pitch,
                              .steps = steps};
      if (winner_code.empty()) return std::vector<WinnerRecord>();
      winner.trial.platform = {.gpu = device_.name,
                               .architecture = architecture,
                               .driver = device_.driver,
                               .nvrtc = "",
                               .template_signature = template_signature(parse_code(winner_code))};
      winner.trial.code = winner_code;
      return std::vector{winner};
    };
    return Library(std::make_unique<Library::Impl>(std::move(parts)));
  }

  /// Looks up, prepares, launches all cells, and compares.
  template <class Cell>
  void expect_launch_right(const Stencil& stencil, const std::string& winner_code, Boundaries boundaries = {}) {
    const Request request = request_for<Cell>(stencil, boundaries);
    Library library = library_with(winner_code);
    Kernel kernel = library.lookup(request);
    EXPECT_EQ(kernel.match(), winner_code.empty() ? Match::default_candidate : Match::exact);
    kernel.prepare();
    expect_launch_right<Cell>(request, kernel);
  }

  template <class Cell>
  void expect_launch_right(const Request& request, const Kernel& kernel) {
    DeviceField in(kGrid, request.type);
    DeviceField out(kGrid, request.type);
    const std::vector<Cell> cells = random_cells<Cell>(1);
    const std::vector<Cell> before = random_cells<Cell>(2);
    upload(in, cells);
    upload(out, before);
    kernel.launch(stream_->get(), in.data(), out.data());
    stream_->synchronize();
    expect_step(request, cells, before, download<Cell>(out), kernel.updated_box());
  }

  /// The field after `steps` single launches, the plain way.
  std::vector<float> stepped(Kernel& kernel, std::vector<float> cells, int steps) {
    DeviceField a(kGrid, ElementType::f32);
    DeviceField b(kGrid, ElementType::f32);
    upload(a, cells);
    upload(b, cells);
    for (int step = 0; step < steps; ++step) {
      kernel.launch(nullptr, a.data(), b.data());
      std::swap(a, b);
    }
    context_->synchronize();
    return download<float>(a);
  }

  std::optional<DriverFunctions> functions_;
  std::optional<DeviceContext> context_;
  std::optional<Stream> stream_;
};

TEST_F(DeviceLibrary, LooksUpPreparesAndLaunches) {
  expect_launch_right<float>(find_builtin("heat3d"), "");
  expect_launch_right<double>(find_builtin("heat3d"), "");
  expect_launch_right<float>(make_builtin(Shape::star, 3, 2), "direct.bx32.by4.rx4.v4");
  expect_launch_right<double>(make_builtin(Shape::box, 3, 1), "",
                              {Boundary::periodic, Boundary::reflect, Boundary::zero});
}

TEST_F(DeviceLibrary, DescribesFieldsToTmaAtEachLaunch) {
  if (device_.limits.compute_capability < 90) GTEST_SKIP() << "no bulk tensor copies before sm_90";
  expect_launch_right<float>(make_builtin(Shape::star, 3, 2), kRing);
}

TEST_F(DeviceLibrary, UpdatesABoxAndNothingElse) {
  const Request request = request_for<float>(find_builtin("heat3d"));
  Library library = library_with();
  Kernel kernel = library.lookup(request);
  kernel.prepare();
  DeviceField in(kGrid, ElementType::f32);
  DeviceField out(kGrid, ElementType::f32);
  const std::vector<float> cells = random_cells<float>(1);
  const std::vector<float> before = random_cells<float>(2);
  upload(in, cells);
  upload(out, before);
  const Box box{.low = {5, 3, 1}, .high = {60, 30, 7}};
  kernel.launch(stream_->get(), in.data(), out.data(), {}, box);
  stream_->synchronize();
  expect_step(request, cells, before, download<float>(out), box);
}

TEST_F(DeviceLibrary, AdvanceIsAsManyLaunchesAndCarriesTheHeldLayers) {
  Library library = library_with();
  Kernel kernel = library.lookup(request_for<float>(find_builtin("heat3d")));
  kernel.prepare();
  const std::vector<float> cells = random_cells<float>(3);
  DeviceField u(kGrid, ElementType::f32);
  DeviceField next(kGrid, ElementType::f32);
  upload(u, cells);
  std::array<void*, 2> fields{u.data(), next.data()};
  kernel.advance(stream_->get(), fields, 5);
  stream_->synchronize();
  EXPECT_EQ(fields[0], next.data());
  EXPECT_EQ(download<float>(next), stepped(kernel, cells, 5));
}

TEST_F(DeviceLibrary, AdvanceGoesByAPlanOfFusedStepsAndSingleOnes) {
  const Boundaries mixed{Boundary::clamp, Boundary::hold, Boundary::periodic};
  for (const Boundaries& boundaries : {Boundaries{}, mixed}) {
    Request request = request_for<float>(find_builtin("heat3d"), boundaries);
    request.steps = 10;
    Library library = library_with("temporal.bx32.by4.rx1.ry4.pf2.t3.ch2", false, 100);
    Kernel kernel = library.lookup(request);
    EXPECT_EQ(kernel.match(), Match::exact);
    EXPECT_EQ(kernel.fused_steps(), 3);
    kernel.prepare();
    const std::vector<float> cells = random_cells<float>(8);
    DeviceField u(kGrid, ElementType::f32);
    DeviceField next(kGrid, ElementType::f32);
    upload(u, cells);
    upload(next, random_cells<float>(9));
    std::array<void*, 2> fields{u.data(), next.data()};
    kernel.advance(stream_->get(), fields, 10);
    stream_->synchronize();
    EXPECT_EQ(fields[0], u.data()) << "three fused launches and a single one turn the buffers four times";
    expect_steps(10, request, cells, cells, download<float>(u), kernel.updated_box());
  }
}

TEST_F(DeviceLibrary, AdvanceCanBeCapturedIntoAGraph) {
  Library library = library_with();
  Kernel kernel = library.lookup(request_for<float>(find_builtin("heat3d")));
  kernel.prepare();
  const std::vector<float> cells = random_cells<float>(4);
  DeviceField u(kGrid, ElementType::f32);
  DeviceField next(kGrid, ElementType::f32);
  upload(u, cells);
  upload(next, cells);
  std::array<void*, 2> fields{u.data(), next.data()};
  Capture capture(*functions_, stream_->get());
  kernel.advance(stream_->get(), fields, 4);
  capture.finish();
  capture.launch();
  capture.launch();
  stream_->synchronize();
  EXPECT_EQ(download<float>(u), stepped(kernel, cells, 8));
}

TEST_F(DeviceLibrary, WorksInAContextOfTheCallersOwn) {
  const Request request = request_for<float>(find_builtin("heat3d"));
  Library library = library_with();
  Kernel kernel = library.lookup(request);
  CUcontext own = nullptr;
  CUcontext primary = cuda_driver().current_context();
  ASSERT_EQ(functions_->create_context(&own, 0, 0), CUDA_SUCCESS);
  {
    kernel.prepare();
    DeviceField in(kGrid, ElementType::f32);
    DeviceField out(kGrid, ElementType::f32);
    const std::vector<float> cells = random_cells<float>(5);
    upload(in, cells);
    upload(out, cells);
    kernel.launch(nullptr, in.data(), out.data());
    cuda_driver().synchronize_context();
    expect_step(request, cells, cells, download<float>(out), kernel.updated_box());
  }
  cuda_driver().set_current_context(primary);
  EXPECT_ANY_THROW(kernel.launch(nullptr, reinterpret_cast<void*>(0x1000), reinterpret_cast<void*>(0x200000)));
  kernel.prepare();
  expect_launch_right<float>(request, kernel);
  functions_->destroy_context(own);
}

TEST_F(DeviceLibrary, ThreadsWithStreamsOfTheirOwnShareAKernel) {
  Library library = library_with();
  const Request request = request_for<float>(find_builtin("heat3d"));
  constexpr int kThreads = 4;
  std::vector<std::vector<float>> results(kThreads);
  std::vector<std::thread> threads;
  CUctx_st* context = cuda_driver().current_context();
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      cuda_driver().set_current_context(context);
      Kernel kernel = library.lookup(request);
      kernel.prepare();
      const Stream stream(cuda_driver());
      DeviceField u(kGrid, ElementType::f32);
      DeviceField next(kGrid, ElementType::f32);
      upload(u, random_cells<float>(100 + t));
      cuda_driver().synchronize_context();
      std::array<void*, 2> fields{u.data(), next.data()};
      kernel.advance(stream.get(), fields, 50);
      stream.synchronize();
      results[t] = download<float>(u);
    });
  }
  for (std::thread& thread : threads) thread.join();
  Kernel kernel = library.lookup(request);
  for (int t = 0; t < kThreads; ++t) EXPECT_EQ(results[t], stepped(kernel, random_cells<float>(100 + t), 50));
}

TEST_F(DeviceLibrary, TheTapTableServesWhileTheCompilerWorksAlsoIntoAGraph) {
  const Request request = request_for<float>(make_builtin(Shape::box, 3, 3));  // seconds to compile, 343 taps
  Library library = library_with("", true);
  Kernel kernel = library.lookup(request);
  kernel.prepare();
  EXPECT_FALSE(kernel.ready());
  DeviceField in(kGrid, ElementType::f32);
  DeviceField out(kGrid, ElementType::f32);
  const std::vector<float> cells = random_cells<float>(6);
  upload(in, cells);
  upload(out, cells);
  Capture capture(*functions_, stream_->get());
  kernel.launch(stream_->get(), in.data(), out.data());
  while (!kernel.ready()) std::this_thread::yield();  // compiled and loaded while the capture is open
  capture.finish();
  capture.launch();
  stream_->synchronize();
  expect_step(request, cells, cells, download<float>(out), kernel.updated_box());
  kernel.wait();
  expect_launch_right<float>(request, kernel);
}

TEST_F(DeviceLibrary, MemoryThatTheGpuDoesNotReachIsRefusedBeforeItFaults) {
  int pageable = 0;
  const auto attribute = functions_->library.find("cuDeviceGetAttribute");
  reinterpret_cast<decltype(&::cuDeviceGetAttribute)>(attribute)(&pageable, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS,
                                                                 0);
  if (pageable != 0) GTEST_SKIP() << "this GPU reaches all of the host's memory";
  Library library = library_with();
  Kernel kernel = library.lookup(request_for<float>(find_builtin("heat3d")));
  kernel.prepare();
  DeviceField in(kGrid, ElementType::f32);
  std::vector<std::byte> host(in.bytes() + 256);
  auto* aligned = reinterpret_cast<void*>((reinterpret_cast<std::uintptr_t>(host.data()) + 255) / 256 * 256);
  try {
    kernel.launch(nullptr, in.data(), aligned);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_NE(std::string(error.what()).find("no device memory"), std::string::npos) << error.what();
  }
  context_->synchronize();
}

TEST_F(DeviceLibrary, ServesSeveralGpusInOneProcess) {
  const std::vector<DeviceFacts> devices = list_devices();
  if (devices.size() < 2) GTEST_SKIP() << "one GPU alone";
  Library library = library_with();
  Request request = request_for<float>(find_builtin("heat3d"));
  DeviceField elsewhere(kGrid, ElementType::f32);  // on GPU 0
  for (const DeviceFacts& device : devices) {
    const DeviceContext context(device.ordinal);
    const Stream stream(cuda_driver());
    Kernel kernel = library.lookup(request);  // the GPU is the current context's
    kernel.prepare();
    DeviceField in(kGrid, ElementType::f32);
    DeviceField out(kGrid, ElementType::f32);
    const std::vector<float> cells = random_cells<float>(7);
    upload(in, cells);
    upload(out, cells);
    kernel.launch(stream.get(), in.data(), out.data());
    stream.synchronize();
    expect_step(request, cells, cells, download<float>(out), kernel.updated_box());
    if (device.ordinal == 0) continue;
    try {
      kernel.launch(stream.get(), in.data(), elsewhere.data());
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("memory of GPU 0"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace stencil_tune
