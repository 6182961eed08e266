// A step on arrays of a Python library, by DLPack's exchange interface in C: what they are is read without Python.
#include "generator/stencil/layer_arrays.hpp"
#include "runtime/bindings/c_call.hpp"
#include "runtime/bindings/c_handles.hpp"
#include "runtime/library/kernel_state.hpp"

#include <string>
#include <vector>

namespace stencil_tune {

namespace {

// As dlpack.h declares them, version 1.
struct DlTensor {
  void* data;
  std::int32_t device_type;
  std::int32_t device;
  std::int32_t rank;
  std::uint8_t type_code;
  std::uint8_t bits;
  std::uint16_t lanes;
  const std::int64_t* shape;
  const std::int64_t* strides;  ///< in cells; null: dense
  std::uint64_t byte_offset;
};

struct DlExchange {
  std::uint32_t major;
  std::uint32_t minor;
  const void* before;
  const void* owning[3];
  int (*describe)(void* array, void* tensor);  ///< a DlTensor; 0, or -1 with a Python exception
  int (*current_stream)(std::int32_t device_type, std::int32_t device, void** stream);
};

constexpr std::uint32_t kMajor = 1;
constexpr std::int32_t kCuda = 2;
constexpr std::int32_t kCudaManaged = 13;
constexpr std::uint8_t kInteger = 0;
constexpr std::uint8_t kUnsigned = 1;
constexpr std::uint8_t kFloat = 2;
constexpr std::uint8_t kBfloat = 4;

[[noreturn]] void refuse(const std::string& message) { throw Error(ErrorCode::invalid_argument, message); }

bool has_cells_of(const DlTensor& tensor, ElementType type) {
  const std::uint8_t whole = range_of(type).least < 0 ? kInteger : kUnsigned;
  const std::uint8_t code = is_whole(type) ? whole : type == ElementType::bf16 ? kBfloat : kFloat;
  return tensor.type_code == code && tensor.bits == 8 * size_of(type) && tensor.lanes == 1;
}

/// Whether the tensor is the array of the field: its axes are counted from the last one, x.
bool is_array_of(const DlTensor& tensor, const Problem& problem, int field) {
  const auto rank = static_cast<std::size_t>(problem.extents.rank);
  const ArrayLayout array = array_of(problem, field);
  if (tensor.rank != problem.extents.rank) return false;
  if (tensor.strides == nullptr && array.row != array.n[0]) return false;
  const std::array<std::int64_t, kMaxRank> strides{1, array.row, array.plane};
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const std::size_t from_the_first = rank - 1 - axis;
    if (tensor.shape[from_the_first] != array.n[axis]) return false;
    if (tensor.strides != nullptr && tensor.strides[from_the_first] != strides[axis]) return false;
  }
  return true;
}

void* address_of(const Kernel::State& state, const DlExchange& exchange, void* array, int number, int field) {
  DlTensor tensor{};
  if (array == nullptr || exchange.describe(array, &tensor) != 0) {
    refuse("array " + std::to_string(number) + " cannot be described");
  }
  const Problem& problem = state.step;
  const bool is_here =
      (tensor.device_type == kCuda || tensor.device_type == kCudaManaged) && tensor.device == state.device;
  if (!is_here || !has_cells_of(tensor, storage_of(problem, field)) || !is_array_of(tensor, problem, field)) {
    refuse("array " + std::to_string(number) + " is not on the kernel's GPU, or not of its type and layout");
  }
  return static_cast<std::byte*>(tensor.data) + tensor.byte_offset;
}

/// While it lives, other threads of Python may run.
class WithoutInterpreter {
 public:
  explicit WithoutInterpreter(const stencil_tune_exchange& how) : how_(how), thread_(how.release_lock()) {}
  WithoutInterpreter(const WithoutInterpreter&) = delete;
  WithoutInterpreter& operator=(const WithoutInterpreter&) = delete;
  ~WithoutInterpreter() { how_.take_lock(thread_); }

 private:
  const stencil_tune_exchange& how_;
  void* thread_;
};

/// The arrays' addresses by field, and the current stream of their library; `launch` of these without the interpreter's
/// lock.
template <class Launch>
stencil_tune_status launch_arrays(stencil_tune_kernel* kernel, const stencil_tune_exchange* how, void* arrays,
                                  const Launch& launch) {
  void* stream = nullptr;
  std::array<void*, 8> few{};
  std::vector<void*> many;
  void** fields = few.data();
  const stencil_tune_status described = guarded([&] {
    require(kernel, "kernel");
    require(how, "how");
    require_size("stencil_tune_exchange", how->struct_size, sizeof(stencil_tune_exchange),
                 sizeof(stencil_tune_exchange), "its size");
    const auto& exchange = *static_cast<const DlExchange*>(how->table);
    if (exchange.major != kMajor) refuse("DLPack " + std::to_string(exchange.major) + ": this library knows 1");
    if (how->count != kernel->fields) refuse("an array for each field is needed");
    if (static_cast<std::size_t>(how->count) > few.size()) {
      many.resize(static_cast<std::size_t>(how->count));
      fields = many.data();
    }
    const Kernel::State& state = kernel->kernel.state();
    for (int i = 0; i < how->count; ++i) {
      fields[how->fields[i]] = address_of(state, exchange, how->item(arrays, i), i, how->fields[i]);
    }
    if (exchange.current_stream(kCuda, state.device, &stream) != 0) refuse("the current stream is not known");
  });
  if (described != STENCIL_TUNE_OK) return described;
  const WithoutInterpreter unlocked(*how);
  return launch(kernel, static_cast<CUstream_st*>(stream), fields);
}

}  // namespace

}  // namespace stencil_tune

using namespace stencil_tune;

extern "C" {

stencil_tune_status stencil_tune_step_of_arrays(stencil_tune_kernel* kernel, const stencil_tune_exchange* how,
                                                void* arrays) {
  return launch_arrays(kernel, how, arrays, stencil_tune_step_on_device);
}

stencil_tune_status stencil_tune_step_into_new_of_arrays(stencil_tune_kernel* kernel, const stencil_tune_exchange* how,
                                                         void* arrays) {
  return launch_arrays(kernel, how, arrays, [](stencil_tune_kernel* made, CUstream_st* stream, void* const* fields) {
    return stencil_tune_step_into_new_on_device(made, stream, fields, nullptr, 0);
  });
}

}  // extern "C"
