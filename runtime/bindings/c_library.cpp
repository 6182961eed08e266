// The C interface: opening a library, and looking kernels up.
#include "generator/stencil/stage_problems.hpp"
#include "runtime/bindings/c_call.hpp"
#include "runtime/bindings/c_handles.hpp"

namespace stencil_tune {

namespace {

LibraryOptions to_options(const stencil_tune_options& given) {
  const stencil_tune_options defaults = STENCIL_TUNE_OPTIONS_INIT;
  const stencil_tune_options from =
      whole(given, sizeof(defaults), defaults, "stencil_tune_options", "STENCIL_TUNE_OPTIONS_INIT");
  return {.database = text_or_empty(from.database),
          .compile_in_background = from.compile_in_background != 0,
          .tune_on_miss_s = from.tune_on_miss_s,
          .program = text_or_empty(from.program)};
}

Stencil stencil_of(const stencil_tune_request& from) {
  if (from.parsed == nullptr) {
    require(from.stencil, "stencil_tune_request::stencil");
    return load_stencil(from.stencil);
  }
  if (from.stencil == nullptr) return from.parsed->stencil;
  throw Error(ErrorCode::invalid_argument, "stencil_tune_request has both `stencil` and `parsed`: set one of them");
}

}  // namespace

Request to_request(const stencil_tune_request& given) {
  constexpr std::size_t kFirstVersion = offsetof(stencil_tune_request, alignment) + sizeof(given.alignment);
  const stencil_tune_request from = whole(given, kFirstVersion, stencil_tune_request STENCIL_TUNE_REQUEST_INIT,
                                          "stencil_tune_request", "STENCIL_TUNE_REQUEST_INIT");
  Request request;
  request.stencil = stencil_of(from);
  request.type =
      from.type != nullptr ? parse_element_type(from.type) : request.stencil.element.value_or(ElementType::f32);
  request.extents.rank = request.stencil.rank;
  std::copy(std::begin(from.extents), std::end(from.extents), request.extents.n.begin());
  request.boundaries = parse_boundaries(from.boundary != nullptr ? from.boundary : "hold", request.stencil.rank);
  request.pitch = from.pitch;
  request.slabs = from.slabs != 0;
  request.device = from.device;
  request.gpu = text_or_empty(from.gpu);
  if (from.objective != nullptr) request.objective = parse_objective(from.objective);
  request.race_s = from.race_s;
  if (from.steps != 0) request.steps = from.steps;
  if (from.alignment != 0) request.alignment = from.alignment;
  return request;
}

stencil_tune_library* make_c_handle(Library library) { return new stencil_tune_library{std::move(library)}; }

}  // namespace stencil_tune

using namespace stencil_tune;

extern "C" {

stencil_tune_status stencil_tune_open(const char* database, stencil_tune_library** library) {
  return guarded([&] {
    require(library, "library");
    *library = nullptr;
    *library = make_c_handle(Library({.database = text_or_empty(database)}));
  });
}

stencil_tune_status stencil_tune_open_with(const stencil_tune_options* options, stencil_tune_library** library) {
  return guarded([&] {
    require(library, "library");
    *library = nullptr;
    require(options, "options");
    *library = make_c_handle(Library(to_options(*options)));
  });
}

void stencil_tune_close(stencil_tune_library* library) { delete library; }

stencil_tune_status stencil_tune_reload(stencil_tune_library* library) {
  return guarded([&] {
    require(library, "library");
    library->library.reload();
  });
}

stencil_tune_status stencil_tune_check_request(const stencil_tune_request* request, char** boundary) {
  return guarded([&] {
    if (boundary != nullptr) *boundary = nullptr;
    require(request, "request");
    const Request asked = to_request(*request);
    const Problem problem =
        make_problem(asked.stencil, asked.type, asked.boundaries, asked.extents, asked.pitch, asked.steps, kWholeStep);
    require_updates(problem);
    if (boundary != nullptr) *boundary = copy_of(to_string(problem.boundaries, problem.extents.rank)).release();
  });
}

stencil_tune_status stencil_tune_field_array(const stencil_tune_request* request, int32_t field, int64_t* extents,
                                             int64_t* strides) {
  return guarded([&] {
    require(request, "request");
    require(extents, "extents");
    require(strides, "strides");
    const ArrayLayout array = array_of_field(to_request(*request), field);
    std::copy(array.n.begin(), array.n.end(), extents);
    const std::array<std::int64_t, kMaxRank> apart{1, array.row, array.plane};
    std::copy(apart.begin(), apart.end(), strides);
  });
}

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

}  // extern "C"
