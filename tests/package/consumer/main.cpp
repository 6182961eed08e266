// What an application in C++17 sees of the installed package: the public headers and stencil_tune::runtime, nothing
// else.
#include "stencil_tune/stencil_tune.hpp"

#include <cstdio>
#include <string>
#include <vector>

static_assert(__cplusplus == 201703L, "the package must leave the standard to the application");

namespace st = stencil_tune;

namespace {

/// Named errors, with and without a GPU. Returns how many were missing.
int check_errors() {
  int missing = 0;
  const auto expect = [&](st::ErrorCode code, const char* what, auto call) {
    try {
      call();
      std::printf("no error for %s\n", what);
    } catch (const st::Error& error) {
      if (error.code() == code) return;
      std::printf("%s: %s\n", what, error.what());
    }
    ++missing;
  };
  expect(st::ErrorCode::database_io, "a database that is not there", [] {
    st::LibraryOptions options;
    options.database = "/no/such.db";
    st::Library library(options);
  });
  expect(st::ErrorCode::unknown_name, "a stencil that is not there", [] { st::load_stencil("heat4d"); });
  expect(st::ErrorCode::file_io, "a definition that is not there", [] { st::load_stencil("/no/such.toml"); });
  expect(st::ErrorCode::invalid_argument, "rows without cells", [] { st::padded_pitch(0, st::ElementType::f32); });
  return missing;
}

/// For a GPU that is not here, what ships with the library can be read and written out. Returns 0 where it can.
int write_for_a_named_gpu() {
  st::Request request;
  request.stencil = st::find_builtin("star3d1r");
  request.extents = st::parse_extents("512", 3);
  request.steps = 100;
  request.gpu = "h200";
  const st::Kernel kernel = st::Library().lookup(request);
  std::printf("%s\n", kernel.evidence().sentence().c_str());
  const bool written = kernel.export_cuda().source.find("cudaError_t star3d1r(") != std::string::npos;
  return written && kernel.evidence().gstencils > 0 ? 0 : 1;
}

/// A field of ones stays one under an average. Returns the number of other cells.
int step_on_the_gpu() {
  const st::DeviceContext context;
  st::Library library;
  const st::Extents extents{2, {50, 40, 1}};
  st::DeviceField u(extents, st::ElementType::f32);
  st::DeviceField next(extents, st::ElementType::f32);
  std::vector<float> cells(static_cast<std::size_t>(extents.cells()), 1.0F);
  u.copy_from(st::as_bytes(cells));

  st::Request request;
  request.stencil = st::parse_stencil("next = w * (u[x-1] + u[x+1] + u[y-1] + u[y+1] + u); w = 0.1", 2);
  request.extents = extents;
  request.pitch = u.pitch();
  st::Kernel kernel = library.lookup(request);
  kernel.prepare();
  std::printf("%s\n", kernel.evidence().sentence().c_str());
  std::vector<void*> fields{u.data(), next.data()};
  const std::vector<double> weights(1, 0.2);
  kernel.advance(nullptr, fields, 4, weights);
  (fields[0] == u.data() ? u : next).copy_to(st::as_writable_bytes(cells));
  int wrong = 0;
  for (const float cell : cells) wrong += cell > 0.9999F && cell < 1.0001F ? 0 : 1;
  return wrong;
}

}  // namespace

int main() {
  if (check_errors() != 0 || write_for_a_named_gpu() != 0) return 1;
  try {
    return step_on_the_gpu() == 0 ? 0 : 1;
  } catch (const st::Error& error) {
    std::printf("no GPU: %s\n", error.what());
    const bool none = error.code() == st::ErrorCode::missing_library || error.code() == st::ErrorCode::no_device;
    return none ? 0 : 1;
  }
}
