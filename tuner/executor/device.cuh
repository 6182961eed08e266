// The host's stand-in for templates/device.cuh: the same functions, carried out by the executor.
// Compiled together with a kernel by the host compiler; see tuner/executor/executor.hpp.
#pragma once

#include "stencil_tune/host_interface.hpp"

#include <cmath>
#include <cstring>

using std::fma;  // takes float too, as CUDA has it

#define STENCIL_DEVICE inline
#define STENCIL_KERNEL extern "C"
#define STENCIL_CLUSTER(blocks)  // the launch's geometry says it
#define STENCIL_UNROLL

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __grid_constant__
#define __launch_bounds__(...)

// Where a function of this file was called from.
#define STENCIL_TUNE_CALLER const char *file = __builtin_FILE(), int line = __builtin_LINE()

extern "C" {
__attribute__((visibility("default"))) stencil_tune::host::Services* stencil_tune_host_services;
}

namespace stencil_tune {

enum class LoadHint { cached, read_only, l2_only };
enum class StoreHint { write_back, streaming };

namespace host {

inline const ThreadView& self() { return *stencil_tune_host_services->current; }

inline void check_alignment(const void* address, unsigned long bytes, const char* what, Site site) {
  if (reinterpret_cast<unsigned long>(address) % bytes == 0) return;
  stencil_tune_host_services->fail(Rule::alignment, address, what, site);
}

/// A lane's value from another lane of its warp.
template <class T>
T exchange(T value, int source, Site site) {
  T received;
  stencil_tune_host_services->exchange(&value, &received, sizeof(T), static_cast<unsigned>(source), site);
  return received;
}

/// Takes parameters one after the other, each at its natural alignment.
class Parameters {
 public:
  explicit Parameters(const void* packed) : packed_(static_cast<const unsigned char*>(packed)) {}

  template <class Value>
  Value next() {
    at_ = (at_ + alignof(Value) - 1) / alignof(Value) * alignof(Value);
    alignas(Value) unsigned char copy[sizeof(Value)];
    std::memcpy(copy, packed_ + at_, sizeof(Value));
    at_ += sizeof(Value);
    return *reinterpret_cast<const Value*>(copy);
  }

 private:
  const unsigned char* packed_;
  unsigned long at_ = 0;
};

template <class... Values>
struct Call {
  void (*kernel)(Values...);
  Call(void (*called)(Values...), Values... values) : kernel(called) { kernel(values...); }
};

template <class... Values>
void call(void (*kernel)(Values...), const void* packed) {
  Parameters parameters(packed);
  Call<Values...>{kernel, parameters.next<Values>()...};  // braces: in this order
}

template <class... Values>
constexpr unsigned long argument_bytes(void (*)(Values...)) {
  unsigned long end = 0;
  ((end = (end + alignof(Values) - 1) / alignof(Values) * alignof(Values) + sizeof(Values)), ...);
  return end;
}

}  // namespace host

// What the executor looks up in the library, for each kernel.
#define STENCIL_TUNE_HOST_ENTRY(kernel)                                                                  \
  extern "C" {                                                                                           \
  __attribute__((visibility("default"))) void stencil_tune_host_##kernel(const void* packed) {           \
    stencil_tune::host::call(kernel, packed);                                                            \
  }                                                                                                      \
  __attribute__((visibility("default"))) extern const unsigned long stencil_tune_host_##kernel##_bytes = \
      stencil_tune::host::argument_bytes(kernel);                                                        \
  }

STENCIL_DEVICE int thread_x() { return static_cast<int>(host::self().thread.x); }
STENCIL_DEVICE int thread_y() { return static_cast<int>(host::self().thread.y); }
STENCIL_DEVICE int thread_z() { return static_cast<int>(host::self().thread.z); }
STENCIL_DEVICE unsigned block_x() { return host::self().block.x; }
STENCIL_DEVICE unsigned block_y() { return host::self().block.y; }
STENCIL_DEVICE unsigned block_z() { return host::self().block.z; }
STENCIL_DEVICE unsigned blocks_in_x() { return host::self().grid_extent.x; }

STENCIL_DEVICE void barrier(STENCIL_TUNE_CALLER) { stencil_tune_host_services->barrier({file, line}); }

template <class T>
STENCIL_DEVICE T shuffle_up(T value, int delta, int width, STENCIL_TUNE_CALLER) {
  const int lane = static_cast<int>(host::self().lane);
  return host::exchange(value, lane % width < delta ? lane : lane - delta, {file, line});
}
template <class T>
STENCIL_DEVICE T shuffle_down(T value, int delta, int width, STENCIL_TUNE_CALLER) {
  const int lane = static_cast<int>(host::self().lane);
  return host::exchange(value, lane % width + delta >= width ? lane : lane + delta, {file, line});
}
template <class T>
STENCIL_DEVICE T shuffle_from(T value, int lane, STENCIL_TUNE_CALLER) {
  return host::exchange(value, lane, {file, line});
}

template <class T>
STENCIL_DEVICE T choose(bool first, T a, T b) {
  return first ? a : b;
}

STENCIL_DEVICE unsigned char* shared_memory() { return host::self().shared; }

template <int kBytes>
struct Word;
template <>
struct Word<1> {
  using Type = unsigned char;
};
template <>
struct Word<2> {
  using Type = unsigned short;
};
template <>
struct Word<4> {
  using Type = unsigned int;
};
template <>
struct Word<8> {
  using Type = unsigned long long;
};
template <>
struct Word<16> {
  struct Type {
    unsigned long long low, high;
  };
};

template <LoadHint kHint, class W>
STENCIL_DEVICE W load_word(const W* address, STENCIL_TUNE_CALLER) {
  host::check_alignment(address, sizeof(W), "misaligned load", {file, line});
  return *address;
}

template <StoreHint kHint, class W>
STENCIL_DEVICE void store_word(W* address, W value, STENCIL_TUNE_CALLER) {
  host::check_alignment(address, sizeof(W), "misaligned store", {file, line});
  *address = value;
}

struct alignas(64) TensorMap {
  unsigned long long words[16];
};

struct Mbarrier {
  host::MbarrierContent content;
};
static_assert(sizeof(Mbarrier) == 8);

STENCIL_DEVICE void init_mbarrier(Mbarrier* barrier, int arrivals, STENCIL_TUNE_CALLER) {
  host::check_alignment(barrier, sizeof(Mbarrier), "misaligned mbarrier", {file, line});
  if (arrivals < 1) {
    stencil_tune_host_services->fail(host::Rule::other, barrier, "mbarrier that counts no arrivals", {file, line});
  }
  barrier->content = {static_cast<unsigned short>(arrivals), static_cast<unsigned short>(arrivals), 0};
}
STENCIL_DEVICE void end_mbarrier(Mbarrier* barrier) { barrier->content = {}; }
STENCIL_DEVICE void fence_mbarrier_init() {}
STENCIL_DEVICE void fence_async_proxy() { stencil_tune_host_services->fence_copies(); }
STENCIL_DEVICE void arrive(Mbarrier* barrier) {
  barrier->content.arrive();
  barrier->content.end_phase_if_complete();
}
STENCIL_DEVICE void arrive_expect_tx(Mbarrier* barrier, int bytes) {
  barrier->content.add_bytes(bytes);
  arrive(barrier);
}
STENCIL_DEVICE void wait_phase(Mbarrier* barrier, int parity, STENCIL_TUNE_CALLER) {
  stencil_tune_host_services->wait_phase(barrier, parity, {file, line});
}
STENCIL_DEVICE void warp_wait_phase(Mbarrier* barrier, int parity, STENCIL_TUNE_CALLER) {
  stencil_tune_host_services->wait_phase(barrier, parity, {file, line});
  host::exchange(0, static_cast<int>(host::self().lane), {file, line});
}
STENCIL_DEVICE void warp_arrive_expect_tx(Mbarrier* barrier, int bytes) {
  if (host::self().lane == 0) arrive_expect_tx(barrier, bytes);
}
/// Other warps may run before this one goes on.
STENCIL_DEVICE void warp_arrive(Mbarrier* barrier, STENCIL_TUNE_CALLER) {
  arrive(barrier);
  host::exchange(0, static_cast<int>(host::self().lane), {file, line});
}
STENCIL_DEVICE void copy_box(const TensorMap* map, void* to, Mbarrier* barrier, int x, int y, int z,
                             STENCIL_TUNE_CALLER) {
  stencil_tune_host_services->copy_box(map, to, barrier, x, y, z, {file, line});
}
STENCIL_DEVICE void warp_copy_box(const TensorMap* map, void* to, int bytes, Mbarrier* barrier, int x, int y, int z,
                                  STENCIL_TUNE_CALLER) {
  if (host::self().lane != 0) return;
  arrive_expect_tx(barrier, bytes);
  copy_box(map, to, barrier, x, y, z, file, line);
}

struct SharedAddress {
  unsigned char* address;
  STENCIL_DEVICE SharedAddress operator+(int bytes) const { return {address + bytes}; }
};

STENCIL_DEVICE SharedAddress shared_place(int byte) { return SharedAddress{shared_memory()} + byte; }

template <class V>
STENCIL_DEVICE void load_shared(SharedAddress from, V& value, STENCIL_TUNE_CALLER) {
  host::check_alignment(from.address, sizeof value, "misaligned load", {file, line});
  std::memcpy(&value, from.address, sizeof value);
}
template <class V>
STENCIL_DEVICE void store_shared(SharedAddress to, V value, STENCIL_TUNE_CALLER) {
  host::check_alignment(to.address, sizeof value, "misaligned store", {file, line});
  std::memcpy(to.address, &value, sizeof value);
  stencil_tune_host_services->wrote_shared();
}

/// Arrives some time before the wait for the barrier's phase ends.
STENCIL_DEVICE void warp_load_line(SharedAddress to, const void* from, int bytes, Mbarrier* barrier,
                                   STENCIL_TUNE_CALLER) {
  if (host::self().lane != 0) return;
  arrive_expect_tx(barrier, bytes);
  stencil_tune_host_services->load_line(to.address, from, bytes, barrier, {file, line});
}
/// Reads shared memory some time before the wait that covers it ends.
STENCIL_DEVICE void warp_store_line(void* to, SharedAddress from, int bytes, STENCIL_TUNE_CALLER) {
  if (host::self().lane == 0) stencil_tune_host_services->store_line(to, from.address, bytes, {file, line});
}
STENCIL_DEVICE void lines_commit() { stencil_tune_host_services->commit_lines(); }
template <int kGroupsLeft>
STENCIL_DEVICE void lines_wait_read() {
  stencil_tune_host_services->wait_lines(kGroupsLeft);
}

STENCIL_DEVICE void assume(bool value, STENCIL_TUNE_CALLER) {
  if (!value)
    stencil_tune_host_services->fail(host::Rule::other, nullptr, "assumption that does not hold", {file, line});
}

STENCIL_DEVICE void keep_behind(bool) {}
STENCIL_DEVICE int computed_anew(int x) { return x; }

STENCIL_DEVICE bool any_in_warp(bool value, STENCIL_TUNE_CALLER) {
  int any = value ? 1 : 0;
  for (int distance = 16; distance > 0; distance /= 2) {
    any |= host::exchange(any, static_cast<int>(host::self().lane) ^ distance, {file, line});
  }
  return any != 0;
}
STENCIL_DEVICE void warp_barrier(STENCIL_TUNE_CALLER) {
  host::exchange(0, static_cast<int>(host::self().lane), {file, line});
}

STENCIL_DEVICE unsigned cluster_rank() { return host::self().cluster_rank; }
STENCIL_DEVICE void cluster_barrier(STENCIL_TUNE_CALLER) { stencil_tune_host_services->cluster_barrier({file, line}); }

struct PeerAddress {
  unsigned char* address;
  STENCIL_DEVICE PeerAddress operator+(int bytes) const { return {address + bytes}; }
};

STENCIL_DEVICE PeerAddress peer_address(const void* local, unsigned rank, STENCIL_TUNE_CALLER) {
  return {static_cast<unsigned char*>(stencil_tune_host_services->peer_address(local, rank, {file, line}))};
}

/// Arrives some time before the wait for the barrier's phase ends.
template <class W>
STENCIL_DEVICE void send_word(PeerAddress to, W word, PeerAddress barrier, STENCIL_TUNE_CALLER) {
  host::check_alignment(to.address, sizeof word, "word sent to a misaligned address", {file, line});
  stencil_tune_host_services->send(to.address, &word, sizeof word, barrier.address, {file, line});
}

/// kBytes (4, 8 or 16) from global to shared memory, which arrive some time before the wait that covers them ends.
template <int kBytes>
STENCIL_DEVICE void async_copy(void* shared, const void* global, STENCIL_TUNE_CALLER) {
  static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16);
  host::check_alignment(shared, kBytes, "asynchronous copy to a misaligned address", {file, line});
  host::check_alignment(global, kBytes, "asynchronous copy from a misaligned address", {file, line});
  stencil_tune_host_services->copy_async(shared, global, kBytes, kBytes, {file, line});
}
template <int kBytes>
STENCIL_DEVICE void async_copy(SharedAddress to, const void* from, STENCIL_TUNE_CALLER) {
  async_copy<kBytes>(static_cast<void*>(to.address), from, file, line);
}
/// Closes a group of the copies this thread issued since the last one.
STENCIL_DEVICE void async_commit() { stencil_tune_host_services->commit_copies(); }
/// Until this thread's groups have arrived, all but the latest kGroupsLeft.
template <int kGroupsLeft>
STENCIL_DEVICE void async_wait() {
  stencil_tune_host_services->wait_copies(kGroupsLeft);
}

// Conversions of 16-bit types, as the GPU's instructions round: to nearest, ties to even.

STENCIL_DEVICE float float_from_bits(unsigned bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

STENCIL_DEVICE unsigned bits_from_float(float value) {
  unsigned bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

STENCIL_DEVICE float float_from_f16(unsigned short bits) {
  const int exponent = bits >> 10 & 31;
  const int fraction = bits & 1023;
  const float sign = bits >> 15 ? -1.0f : 1.0f;
  if (exponent == 31) return fraction ? float_from_bits(0x7fffffffu) : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(fraction), -24);
  return sign * std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
}

STENCIL_DEVICE unsigned short f16_from_float(float value) {
  const unsigned sign = bits_from_float(value) >> 16 & 0x8000u;
  const float size = std::fabs(value);
  if (size != size) return 0x7fff;
  if (size == 0.0f) return static_cast<unsigned short>(sign);
  if (size >= 65520.0f) return static_cast<unsigned short>(sign | 0x7c00u);
  // Scaled so that the last place of the result is 1: nearbyint then rounds as the conversion does.
  int exponent = 0;
  std::frexp(size, &exponent);
  const int last_place = exponent - 11 < -24 ? -24 : exponent - 11;
  const auto places = static_cast<unsigned>(std::nearbyint(std::ldexp(size, -last_place)));
  // A carry out of the fraction adds to the exponent, as it should; subnormals have no hidden 1.
  return static_cast<unsigned short>(sign | (places + static_cast<unsigned>(last_place + 24) * 1024u));
}

STENCIL_DEVICE float float_from_bf16(unsigned short bits) { return float_from_bits(static_cast<unsigned>(bits) << 16); }

STENCIL_DEVICE unsigned short bf16_from_float(float value) {
  const unsigned bits = bits_from_float(value);
  if (value != value) return static_cast<unsigned short>(bits >> 16 | 0x0040u);
  const unsigned tie_to_even = bits >> 16 & 1u;
  return static_cast<unsigned short>((bits + 0x7fffu + tie_to_even) >> 16);
}

STENCIL_DEVICE int int_from(double x) {
  if (x != x) return 0;
  return static_cast<int>(std::nearbyint(x < -2147483648.0 ? -2147483648.0 : x > 2147483647.0 ? 2147483647.0 : x));
}
STENCIL_DEVICE int int_from(float x) { return int_from(static_cast<double>(x)); }

STENCIL_DEVICE float minimum(float a, float b) { return std::fmin(a, b); }
STENCIL_DEVICE double minimum(double a, double b) { return std::fmin(a, b); }
STENCIL_DEVICE float maximum(float a, float b) { return std::fmax(a, b); }
STENCIL_DEVICE double maximum(double a, double b) { return std::fmax(a, b); }
STENCIL_DEVICE float square_root(float x) { return std::sqrt(x); }
STENCIL_DEVICE double square_root(double x) { return std::sqrt(x); }
STENCIL_DEVICE float inverse_root(float x) { return 1 / std::sqrt(x); }
STENCIL_DEVICE double inverse_root(double x) { return 1 / std::sqrt(x); }
STENCIL_DEVICE float exponential(float x) { return std::exp(x); }
STENCIL_DEVICE double exponential(double x) { return std::exp(x); }
STENCIL_DEVICE float sine(float x) { return std::sin(x); }
STENCIL_DEVICE double sine(double x) { return std::sin(x); }
STENCIL_DEVICE float cosine(float x) { return std::cos(x); }
STENCIL_DEVICE double cosine(double x) { return std::cos(x); }
STENCIL_DEVICE float tangent(float x) { return std::tan(x); }
STENCIL_DEVICE double tangent(double x) { return std::tan(x); }
STENCIL_DEVICE float hyperbolic_tangent(float x) { return std::tanh(x); }
STENCIL_DEVICE double hyperbolic_tangent(double x) { return std::tanh(x); }
STENCIL_DEVICE float logarithm(float x) { return std::log(x); }
STENCIL_DEVICE double logarithm(double x) { return std::log(x); }
STENCIL_DEVICE float power(float x, float y) { return std::pow(x, y); }
STENCIL_DEVICE double power(double x, double y) { return std::pow(x, y); }
STENCIL_DEVICE float whole_below(float x) { return std::floor(x); }
STENCIL_DEVICE double whole_below(double x) { return std::floor(x); }
STENCIL_DEVICE float nearest_whole(float x) { return std::nearbyint(x); }
STENCIL_DEVICE double nearest_whole(double x) { return std::nearbyint(x); }
STENCIL_DEVICE float rest_of_division(float x, float y) { return std::fmod(x, y); }
STENCIL_DEVICE double rest_of_division(double x, double y) { return std::fmod(x, y); }
STENCIL_DEVICE long long whole_number(const void* bits) {
  long long number;
  std::memcpy(&number, bits, sizeof number);
  return number;
}

}  // namespace stencil_tune
