#include "runtime/library/launch/workspace.hpp"

#include "stencil_tune/error.hpp"

namespace stencil_tune {

namespace {

constexpr std::size_t kAlignment = 512;  // as the driver's allocations have

}  // namespace

Workspaces::Workspaces(Driver& driver, int count, std::size_t buffer_bytes, int side_streams, std::size_t more_bytes)
    : driver_(driver),
      count_(count),
      stride_((buffer_bytes + kAlignment - 1) / kAlignment * kAlignment),
      side_streams_(side_streams),
      more_bytes_(more_bytes) {}

Workspaces::~Workspaces() {
  std::uint64_t current = 0;
  try {
    current = driver_.current_context_id();
  } catch (const Error&) {
    // A lost device: nothing can be freed any more.
  }
  for (const Set& set : sets_) {
    if (set.context_id != current) continue;
    if (bytes() > 0) driver_.free(set.memory);
    for (CUstream_st* stream : set.sides.streams) driver_.destroy_stream(stream);
    for (CUevent_st* event : set.sides.done) driver_.destroy_event(event);
    if (set.sides.begun != nullptr) driver_.destroy_event(set.sides.begun);
  }
}

Workspaces::Set* Workspaces::find(std::uint64_t context_id, std::optional<CUstream_st*> stream) {
  for (Set& set : sets_) {
    if (set.context_id == context_id && set.stream == stream) return &set;
  }
  return nullptr;
}

void Workspaces::prepare(std::optional<CUstream_st*> stream) {
  if (!needs_sets()) return;
  const std::uint64_t context = driver_.current_context_id();
  const std::scoped_lock lock(mutex_);
  for (const Set& set : sets_) {
    if (set.context_id == context && (!stream || set.stream == stream)) return;
  }
  sets_.push_back({context, stream, bytes() > 0 ? driver_.allocate(bytes()) : 0, make_sides()});
}

SideStreams Workspaces::make_sides() const {
  SideStreams sides;
  if (side_streams_ == 0) return sides;
  for (int i = 0; i < side_streams_; ++i) {
    sides.streams.push_back(driver_.create_urgent_stream());
    sides.done.push_back(driver_.create_event());
  }
  sides.begun = driver_.create_event();
  return sides;
}

std::vector<void*> Workspaces::of(CUstream_st* stream) {
  std::vector<void*> buffers;
  if (count_ == 0) return buffers;
  const std::scoped_lock lock(mutex_);
  const DevicePointer memory = take(stream).memory;
  for (int i = 0; i < count_; ++i) {
    buffers.push_back(reinterpret_cast<void*>(memory + static_cast<std::size_t>(i) * stride_));
  }
  return buffers;
}

DevicePointer Workspaces::more_of(CUstream_st* stream) {
  const std::scoped_lock lock(mutex_);
  return take(stream).memory + static_cast<std::size_t>(count_) * stride_;
}

SideStreams Workspaces::sides_of(CUstream_st* stream) {
  if (side_streams_ == 0) return {};
  const std::scoped_lock lock(mutex_);
  return take(stream).sides;
}

Workspaces::Set& Workspaces::take(CUstream_st* stream) {
  const std::uint64_t context = driver_.current_context_id();
  Set* set = find(context, stream);
  if (set == nullptr) set = find(context, std::nullopt);
  if (set == nullptr) {
    throw Error(ErrorCode::invalid_argument,
                "the kernel needs spare buffers and has none for this stream: call Kernel::prepare(stream), once for "
                "each stream that advances or measures with it");
  }
  set->stream = stream;
  return *set;
}

}  // namespace stencil_tune
