// The C interface: each function is one of the C++ library's, with exceptions turned into statuses.
#include "runtime/bindings/c_handles.hpp"
#include "runtime/cuda/driver.hpp"
#include "stencil_tune/stencil_tune.h"
#include "stencil_tune/stencil_tune.hpp"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <new>
#include <optional>
#include <string>

namespace stencil_tune {

namespace {

static_assert(static_cast<int>(ErrorCode::internal) + 1 == STENCIL_TUNE_INTERNAL);
static_assert(static_cast<int>(ErrorCode::database_io) + 1 == STENCIL_TUNE_DATABASE_IO);
static_assert(static_cast<int>(ErrorCode::compile_failed) + 1 == STENCIL_TUNE_COMPILE_FAILED);
static_assert(static_cast<int>(Match::stale) == STENCIL_TUNE_MATCH_STALE);
static_assert(static_cast<int>(Match::default_candidate) == STENCIL_TUNE_MATCH_DEFAULT);

std::string& last_message() {
  thread_local std::string message;
  return message;
}

stencil_tune_status failure(stencil_tune_status status, const char* message) noexcept {
  try {
    last_message() = message;
  } catch (const std::bad_alloc&) {
    // The status has to do.
  }
  return status;
}

/// Runs the body; no exception leaves.
template <class Body>
stencil_tune_status guarded(Body body) noexcept {
  try {
    body();
    last_message().clear();
    return STENCIL_TUNE_OK;
  } catch (const Error& error) {
    return failure(static_cast<stencil_tune_status>(static_cast<int>(error.code()) + 1), error.what());
  } catch (const std::exception& error) {
    return failure(STENCIL_TUNE_INTERNAL, error.what());
  } catch (...) {
    return failure(STENCIL_TUNE_INTERNAL, "unknown exception");
  }
}

template <class Pointer>
void require(Pointer pointer, const char* what) {
  if (pointer == nullptr) throw Error(ErrorCode::invalid_argument, std::string(what) + " is a null pointer");
}

/// A span from a C array; null stands for none, whatever its count.
template <class Type>
std::span<Type> span_of(Type* first, std::int32_t count, const char* what) {
  if (first == nullptr) return {};
  if (count < 0) throw Error(ErrorCode::invalid_argument, std::string("a negative number of ") + what);
  return {first, static_cast<std::size_t>(count)};
}

void require_size(const std::string& structure, std::size_t given, std::size_t known, const char* start) {
  if (given == known) return;
  throw Error(ErrorCode::invalid_argument, structure + "::struct_size is " + std::to_string(given) +
                                               ", this library knows " + std::to_string(known) + "; start from " +
                                               start);
}

Request to_request(const stencil_tune_request& from) {
  // Older programs pass a shorter struct, newer ones a longer one whose end is unknown here.
  constexpr std::size_t kFirstVersion = offsetof(stencil_tune_request, alignment) + sizeof(from.alignment);
  require_size("stencil_tune_request", from.struct_size, kFirstVersion, "STENCIL_TUNE_REQUEST_INIT");
  require(from.stencil, "stencil_tune_request::stencil");
  Request request;
  request.stencil = load_stencil(from.stencil);
  request.type =
      from.type != nullptr ? parse_element_type(from.type) : request.stencil.element.value_or(ElementType::f32);
  request.extents.rank = request.stencil.rank;
  std::copy(std::begin(from.extents), std::end(from.extents), request.extents.n.begin());
  request.boundaries = parse_boundaries(from.boundary != nullptr ? from.boundary : "hold", request.stencil.rank);
  request.pitch = from.pitch;
  request.device = from.device;
  if (from.steps != 0) request.steps = from.steps;
  if (from.alignment != 0) request.alignment = from.alignment;
  return request;
}

std::optional<Box> to_box(const std::int64_t* low, const std::int64_t* high) {
  if (low == nullptr && high == nullptr) return std::nullopt;
  require(low, "low");
  require(high, "high");
  Box box;
  std::copy_n(low, kMaxRank, box.low.begin());
  std::copy_n(high, kMaxRank, box.high.begin());
  return box;
}

}  // namespace

stencil_tune_kernel* make_c_handle(Kernel kernel, int fields, int coefficients) {
  std::string evidence;
  for (int stage = 0; stage < kernel.stages(); ++stage) {
    if (stage > 0) evidence += '\n';
    evidence += kernel.evidence(stage).sentence();
  }
  return new stencil_tune_kernel{std::move(kernel), std::move(evidence), fields, coefficients};
}

stencil_tune_library* make_c_handle(Library library) { return new stencil_tune_library{std::move(library)}; }

}  // namespace stencil_tune

using namespace stencil_tune;

extern "C" {

const char* stencil_tune_error_message(void) { return last_message().c_str(); }

const char* stencil_tune_status_name(stencil_tune_status status) {
  if (status == STENCIL_TUNE_OK) return "ok";
  // The names are string literals, so that their text ends in a zero.
  if (status < STENCIL_TUNE_OK || status > STENCIL_TUNE_INTERNAL) return "unknown";
  return name(static_cast<ErrorCode>(static_cast<int>(status) - 1)).data();
}

const char* stencil_tune_match_name(stencil_tune_match match) {
  if (match < STENCIL_TUNE_MATCH_EXACT || match > STENCIL_TUNE_MATCH_DEFAULT) return "unknown";
  return name(static_cast<Match>(match)).data();
}

stencil_tune_status stencil_tune_open(const char* database, stencil_tune_library** library) {
  return guarded([&] {
    require(library, "library");
    *library = nullptr;
    *library = make_c_handle(Library({.database = database != nullptr ? database : ""}));
  });
}

stencil_tune_status stencil_tune_open_with(const stencil_tune_options* options, stencil_tune_library** library) {
  return guarded([&] {
    require(library, "library");
    *library = nullptr;
    require(options, "options");
    require_size("stencil_tune_options", options->struct_size, sizeof(*options), "STENCIL_TUNE_OPTIONS_INIT");
    *library = make_c_handle(Library({.database = options->database != nullptr ? options->database : "",
                                      .compile_in_background = options->compile_in_background != 0,
                                      .tune_on_miss_s = options->tune_on_miss_s}));
  });
}

void stencil_tune_close(stencil_tune_library* library) { delete library; }

stencil_tune_status stencil_tune_lookup(stencil_tune_library* library, const stencil_tune_request* request,
                                        stencil_tune_kernel** kernel) {
  return guarded([&] {
    require(kernel, "kernel");
    *kernel = nullptr;
    require(library, "library");
    require(request, "request");
    const Request asked = to_request(*request);
    *kernel = make_c_handle(library->library.lookup(asked), static_cast<int>(asked.stencil.fields.size()),
                            static_cast<int>(asked.stencil.coefficients.size()));
  });
}

void stencil_tune_release(stencil_tune_kernel* kernel) { delete kernel; }

stencil_tune_match stencil_tune_kernel_match(const stencil_tune_kernel* kernel) {
  return static_cast<stencil_tune_match>(kernel->kernel.match());
}

const char* stencil_tune_kernel_code(const stencil_tune_kernel* kernel) {
  return kernel->kernel.evidence().code.c_str();
}

const char* stencil_tune_kernel_evidence(const stencil_tune_kernel* kernel) { return kernel->evidence.c_str(); }

double stencil_tune_kernel_gstencils(const stencil_tune_kernel* kernel) { return kernel->kernel.evidence().gstencils; }

int32_t stencil_tune_kernel_field_count(const stencil_tune_kernel* kernel) { return kernel->fields; }

int32_t stencil_tune_kernel_coefficient_count(const stencil_tune_kernel* kernel) { return kernel->coefficients; }

size_t stencil_tune_kernel_field_bytes(const stencil_tune_kernel* kernel) { return kernel->kernel.field_bytes(); }

size_t stencil_tune_kernel_alignment(const stencil_tune_kernel* kernel) { return kernel->kernel.alignment(); }

stencil_tune_status stencil_tune_prepare(stencil_tune_kernel* kernel) {
  return guarded([&] {
    require(kernel, "kernel");
    kernel->kernel.prepare();
  });
}

int32_t stencil_tune_kernel_ready(const stencil_tune_kernel* kernel) {
  bool ready = false;
  guarded([&] {
    require(kernel, "kernel");
    ready = kernel->kernel.ready();
  });
  return ready ? 1 : 0;
}

stencil_tune_status stencil_tune_wait(stencil_tune_kernel* kernel) {
  return guarded([&] {
    require(kernel, "kernel");
    kernel->kernel.wait();
  });
}

stencil_tune_status stencil_tune_launch(const stencil_tune_kernel* kernel, CUstream_st* stream, void* const* fields,
                                        int32_t field_count, const double* coefficients, int32_t coefficient_count,
                                        const int64_t* low, const int64_t* high) {
  return guarded([&] {
    require(kernel, "kernel");
    require(fields, "fields");
    kernel->kernel.launch(stream, span_of(fields, field_count, "fields"),
                          span_of(coefficients, coefficient_count, "coefficients"), to_box(low, high));
  });
}

stencil_tune_status stencil_tune_advance(const stencil_tune_kernel* kernel, CUstream_st* stream, void** fields,
                                         int32_t field_count, int64_t steps, const double* coefficients,
                                         int32_t coefficient_count) {
  return guarded([&] {
    require(kernel, "kernel");
    require(fields, "fields");
    kernel->kernel.advance(stream, span_of(fields, field_count, "fields"), steps,
                           span_of(coefficients, coefficient_count, "coefficients"));
  });
}

int64_t stencil_tune_padded_pitch(int64_t nx, const char* type) {
  int64_t pitch = 0;
  guarded([&] {
    require(type, "type");
    pitch = padded_pitch(nx, parse_element_type(type));
  });
  return pitch;
}

stencil_tune_status stencil_tune_use_device(int32_t device) {
  return guarded([&] {
    Driver& driver = cuda_driver();
    if (device < 0 || device >= driver.device_count()) {
      throw Error(ErrorCode::no_device,
                  "no GPU " + std::to_string(device) + ": this process sees " + std::to_string(driver.device_count()));
    }
    driver.set_current_context(driver.retain_primary_context(device));
  });
}

stencil_tune_status stencil_tune_allocate(size_t bytes, void** address) {
  return guarded([&] {
    require(address, "address");
    *address = nullptr;
    *address = reinterpret_cast<void*>(cuda_driver().allocate(bytes));
  });
}

void stencil_tune_free(void* address) {
  // Only allocate() above gives addresses, and it has opened the driver.
  if (address != nullptr) cuda_driver().free(reinterpret_cast<std::uintptr_t>(address));
}

stencil_tune_status stencil_tune_copy_to_device(void* to, const void* from, size_t bytes, CUstream_st* stream) {
  return guarded([&] {
    require(to, "to");
    require(from, "from");
    cuda_driver().copy_to_device(reinterpret_cast<std::uintptr_t>(to), from, bytes, stream);
    cuda_driver().synchronize_stream(stream);
  });
}

stencil_tune_status stencil_tune_copy_to_host(void* to, const void* from, size_t bytes, CUstream_st* stream) {
  return guarded([&] {
    require(to, "to");
    require(from, "from");
    cuda_driver().copy_to_host(to, reinterpret_cast<std::uintptr_t>(from), bytes, stream);
    cuda_driver().synchronize_stream(stream);
  });
}

}  // extern "C"
