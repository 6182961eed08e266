// Everything that is not portable C++: built-in variables, barriers, shuffles, memory instructions, 16-bit conversions.
#pragma once

#define STENCIL_DEVICE __device__ __forceinline__
#define STENCIL_KERNEL extern "C" __global__
#define STENCIL_CLUSTER(blocks) __cluster_dims__(blocks, 1, 1)  // that many blocks in x form a cluster
#define STENCIL_UNROLL _Pragma("unroll")

namespace stencil_tune {

enum class LoadHint { cached, read_only, l2_only };
enum class StoreHint { write_back, streaming };
STENCIL_DEVICE int thread_x() { return static_cast<int>(threadIdx.x); }
STENCIL_DEVICE int thread_y() { return static_cast<int>(threadIdx.y); }
STENCIL_DEVICE int thread_z() { return static_cast<int>(threadIdx.z); }
STENCIL_DEVICE unsigned block_x() { return blockIdx.x; }
STENCIL_DEVICE unsigned block_y() { return blockIdx.y; }
STENCIL_DEVICE unsigned block_z() { return blockIdx.z; }
STENCIL_DEVICE unsigned blocks_in_x() { return gridDim.x; }

STENCIL_DEVICE void barrier() { __syncthreads(); }    ///< every thread of the block arrives before any goes on
STENCIL_DEVICE void warp_barrier() { __syncwarp(); }  ///< all lanes of the warp have come this far
STENCIL_DEVICE void assume(bool value) { __builtin_assume(value); }  ///< from here on the compiler relies on it
/// Whether the value is true in some lane. The compiler knows that branches on it do not diverge.
STENCIL_DEVICE bool any_in_warp(bool value) { return __any_sync(0xffffffffu, value) != 0; }
/// What follows is not computed before what precedes: compilers move no arithmetic across a branch that they cannot decide.
/// never: false for all lanes, which the compiler must not be able to tell.
STENCIL_DEVICE void keep_behind(bool never) {
  if (any_in_warp(never)) asm volatile("exit;");
}

/// x, of which the compiler does not know that it is always the same: it keeps nothing that follows from it.
STENCIL_DEVICE int computed_anew(int x) {
  asm volatile("" : "+r"(x));
  return x;
}

/// The value of the lane `delta` below (above), within groups of `width` lanes. All lanes of the warp take part.
template <class T>
STENCIL_DEVICE T shuffle_up(T value, int delta, int width) {
  return __shfl_up_sync(0xffffffffu, value, delta, width);
}
template <class T>
STENCIL_DEVICE T shuffle_down(T value, int delta, int width) {
  return __shfl_down_sync(0xffffffffu, value, delta, width);
}
/// The value of that lane, which each lane chooses for itself.
template <class T>
STENCIL_DEVICE T shuffle_from(T value, int lane) {
  return __shfl_sync(0xffffffffu, value, lane, 32);
}

/// One of two values that are both there: lanes that differ go on together. With ?: the compiler may branch, so as to
/// compute one of them.
STENCIL_DEVICE float choose(bool first, float a, float b) {
  float chosen;
  asm("{\n.reg .pred first;\nsetp.ne.u32 first, %3, 0;\nselp.f32 %0, %1, %2, first;\n}"
      : "=f"(chosen)
      : "f"(a), "f"(b), "r"(static_cast<unsigned>(first)));
  return chosen;
}
STENCIL_DEVICE double choose(bool first, double a, double b) {
  double chosen;
  asm("{\n.reg .pred first;\nsetp.ne.u32 first, %3, 0;\nselp.f64 %0, %1, %2, first;\n}"
      : "=d"(chosen)
      : "d"(a), "d"(b), "r"(static_cast<unsigned>(first)));
  return chosen;
}

STENCIL_DEVICE unsigned char* shared_memory() {
  extern __shared__ __align__(128) unsigned char stencil_tune_shared[];
  return stencil_tune_shared;
}

// Loads and stores of one machine word, by its bytes: what one instruction moves.
template <int kBytes>
struct Word;
// clang-format off
template <> struct Word<1> { using Type = unsigned char; };
template <> struct Word<2> { using Type = unsigned short; };
template <> struct Word<4> { using Type = unsigned int; };
template <> struct Word<8> { using Type = uint2; };
template <> struct Word<16> { using Type = uint4; };
// clang-format on

template <LoadHint kHint, class W>
STENCIL_DEVICE W load_word(const W* address) {
  if constexpr (kHint == LoadHint::read_only) return __ldg(address);
  if constexpr (kHint == LoadHint::l2_only) return __ldcg(address);
  return *address;
}
template <StoreHint kHint, class W>
STENCIL_DEVICE void store_word(W* address, W value) {
  if constexpr (kHint == StoreHint::streaming) {
    __stcs(address, value);
  } else {
    *address = value;
  }
}

// TMA, bulk tensor copies (sm_90+), and the mbarriers that say what has arrived.

/// Describes one field; the host fills it in.
struct alignas(64) TensorMap {
  unsigned long long words[16];
};
/// PTX's mbarrier, in shared memory: a phase ends when all expected arrivals and bytes are in.
struct Mbarrier {
  unsigned long long state;
};

STENCIL_DEVICE unsigned shared_address(const void* at) { return static_cast<unsigned>(__cvta_generic_to_shared(at)); }

STENCIL_DEVICE void init_mbarrier(Mbarrier* barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
}
/// Before another is initialised in its place. Nothing may be on its way to it.
STENCIL_DEVICE void end_mbarrier(Mbarrier* barrier) {
  asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(shared_address(barrier)) : "memory");
}
/// Makes initialised mbarriers visible to TMA.
STENCIL_DEVICE void fence_mbarrier_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

/// The thread's own reads and writes of shared memory come before any TMA copy that is issued later. Arriving at an
/// mbarrier orders them for threads alone (PTX ISA, async proxy): without the fence 9 of 10 launches were wrong.
STENCIL_DEVICE void fence_async_proxy() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

STENCIL_DEVICE void arrive(Mbarrier* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}
/// Arrives and adds `bytes` that copies will bring.
STENCIL_DEVICE void arrive_expect_tx(Mbarrier* barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
               : "memory");
}
/// Waits until the phase of that parity (0, 1, 0, ...) has ended.
STENCIL_DEVICE void wait_phase(Mbarrier* barrier, int parity) {
  asm volatile(
      "{\n.reg .pred done;\nagain: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n}\n" ::"r"(shared_address(barrier)), "r"(parity)
      : "memory");
}

/// wait_phase() for a whole warp, which stays together: no lane leaves before all have seen the phase end.
STENCIL_DEVICE void warp_wait_phase(Mbarrier* barrier, int parity) {
  unsigned ended;
  do {
    asm volatile(
        "{\n"
        ".reg .pred done;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 done, [%1], %2;\n"
        "selp.u32 %0, 1, 0, done;\n"
        "}\n"
        : "=r"(ended)
        : "r"(shared_address(barrier)), "r"(parity)
        : "memory");
  } while (!__all_sync(0xffffffffu, ended != 0));
}

/// arrive_expect_tx() of lane 0, without a branch that would make the warp diverge.
STENCIL_DEVICE void warp_arrive_expect_tx(Mbarrier* barrier, int bytes) {
  asm volatile(
      "{\n"
      ".reg .pred first;\n"
      ".reg .u32 lane;\n"
      "mov.u32 lane, %%laneid;\n"
      "setp.eq.u32 first, lane, 0;\n"
      "@first mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\n"
      "}\n" ::"r"(shared_address(barrier)),
      "r"(bytes)
      : "memory");
}

/// All lanes of a warp arrive. One lane for all of them is no faster, and racecheck does not understand it.
STENCIL_DEVICE void warp_arrive(Mbarrier* barrier) { arrive(barrier); }

/// One thread issues the copy of the field's box that starts at cell (x, y, z); cells outside the field arrive as 0.
STENCIL_DEVICE void copy_box(const TensorMap* map, void* to, Mbarrier* barrier, int x, int y, int z) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], [%2];" ::
          "r"(shared_address(to)), "l"(map), "r"(shared_address(barrier)), "r"(x), "r"(y), "r"(z)
      : "memory");
}

/// copy_box() by one elected lane of a warp, which also arrives at the mbarrier and expects the box's bytes. All lanes
/// pass the same arguments. A branch here would keep the coefficients of the whole kernel out of the uniform registers.
STENCIL_DEVICE void warp_copy_box(const TensorMap* map, void* to, int bytes, Mbarrier* barrier, int x, int y, int z) {
  asm volatile(
      "{\n"
      ".reg .pred elected;\n"
      "elect.sync _|elected, 0xffffffff;\n"
      "@elected mbarrier.arrive.expect_tx.shared::cta.b64 _, [%2], %6;\n"
      "@elected cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], "
      "[%2];\n"
      "}\n" ::"r"(shared_address(to)),
      "l"(map), "r"(shared_address(barrier)), "r"(x), "r"(y), "r"(z), "r"(bytes)
      : "memory");
}

// Shared memory by 32-bit addresses. NVRTC gives a pointer 64 bits wherever it points, nvcc 32 where that is shared
// memory (CUDA 13.0): by these both make the same code, of fewer registers and additions.

/// A place in the block's shared memory.
struct SharedAddress {
  unsigned address;
  STENCIL_DEVICE SharedAddress operator+(int bytes) const { return {address + static_cast<unsigned>(bytes)}; }
};

/// That many bytes behind the first of the block's dynamic shared memory.
STENCIL_DEVICE SharedAddress shared_place(int byte) { return SharedAddress{shared_address(shared_memory())} + byte; }

STENCIL_DEVICE void load_shared(SharedAddress from, float& value) {
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(value) : "r"(from.address) : "memory");
}
STENCIL_DEVICE void load_shared(SharedAddress from, double& value) {
  asm volatile("ld.shared.f64 %0, [%1];" : "=d"(value) : "r"(from.address) : "memory");
}
STENCIL_DEVICE void store_shared(SharedAddress to, float value) {
  asm volatile("st.shared.f32 [%0], %1;" ::"r"(to.address), "f"(value) : "memory");
}
STENCIL_DEVICE void store_shared(SharedAddress to, double value) {
  asm volatile("st.shared.f64 [%0], %1;" ::"r"(to.address), "d"(value) : "memory");
}

// cp.async: copies of a few bytes from global to shared memory, asynchronous to the thread (sm_80+).

/// Starts to copy kBytes (4, 8 or 16); both addresses are multiples of kBytes.
template <int kBytes>
STENCIL_DEVICE void async_copy(void* to, const void* from) {
  if constexpr (kBytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared_address(to)), "l"(from), "n"(kBytes)
                 : "memory");
  }
}

template <int kBytes>
STENCIL_DEVICE void async_copy(SharedAddress to, const void* from) {
  if constexpr (kBytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to.address), "l"(from) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to.address), "l"(from), "n"(kBytes) : "memory");
  }
}

/// The copies that the thread has started since the last call form a group.
STENCIL_DEVICE void async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

/// Waits until at most the thread's kGroupsLeft latest groups are still in flight.
template <int kGroupsLeft>
STENCIL_DEVICE void async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kGroupsLeft) : "memory");
}

// Bulk copies: whole lines between global and shared memory, asynchronous to the thread (sm_90+). Addresses and bytes
// are multiples of 16. All lanes of a warp call, with the same arguments, and one of them acts.

/// Starts to copy to shared memory; arrives at the mbarrier, which expects the bytes.
STENCIL_DEVICE void warp_load_line(SharedAddress to, const void* from, int bytes, Mbarrier* barrier) {
  asm volatile(
      "{\n"
      ".reg .pred elected;\n"
      "elect.sync _|elected, 0xffffffff;\n"
      "@elected mbarrier.arrive.expect_tx.shared::cta.b64 _, [%3], %2;\n"
      "@elected cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];\n"
      "}\n" ::"r"(to.address),
      "l"(from), "r"(bytes), "r"(shared_address(barrier))
      : "memory");
}

/// Starts to copy from shared memory what the lanes have written and fenced.
STENCIL_DEVICE void warp_store_line(void* to, SharedAddress from, int bytes) {
  asm volatile(
      "{\n"
      ".reg .pred elected;\n"
      "elect.sync _|elected, 0xffffffff;\n"
      "@elected cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\n"
      "}\n" ::"l"(to),
      "r"(from.address), "r"(bytes)
      : "memory");
}

/// The copies from shared memory that the warp has started since the last call form a group, which may be empty.
STENCIL_DEVICE void lines_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }

/// Waits until shared memory has been read for all of the warp's groups but the kGroupsLeft latest.
template <int kGroupsLeft>
STENCIL_DEVICE void lines_wait_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kGroupsLeft) : "memory");
}

// Clusters (sm_90+): blocks that run at the same time and write to each other's shared memory.

/// The block's number in its cluster.
STENCIL_DEVICE unsigned cluster_rank() {
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

/// Every thread of the cluster arrives before any goes on.
STENCIL_DEVICE void cluster_barrier() {
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/// A place in the shared memory of a block of the cluster.
struct PeerAddress {
  unsigned address;
  STENCIL_DEVICE PeerAddress operator+(int bytes) const { return {address + static_cast<unsigned>(bytes)}; }
};

/// The place in block `rank` that `local` is in this one.
STENCIL_DEVICE PeerAddress peer_address(const void* local, unsigned rank) {
  PeerAddress peer;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(peer.address) : "r"(shared_address(local)), "r"(rank));
  return peer;
}

/// Starts to write the word to another block; its bytes count towards a phase of that block's mbarrier.
STENCIL_DEVICE void send_word(PeerAddress to, unsigned word, PeerAddress barrier) {
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(to.address),
               "r"(word), "r"(barrier.address)
               : "memory");
}
STENCIL_DEVICE void send_word(PeerAddress to, uint2 word, PeerAddress barrier) {
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%0], {%1, %2}, [%3];" ::"r"(to.address),
               "r"(word.x), "r"(word.y), "r"(barrier.address)
               : "memory");
}
STENCIL_DEVICE void send_word(PeerAddress to, uint4 word, PeerAddress barrier) {
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, [%5];" ::
                   "r"(to.address),
               "r"(word.x), "r"(word.y), "r"(word.z), "r"(word.w), "r"(barrier.address)
               : "memory");
}

// 16-bit types, without cuda_fp16.h: its include path may not exist where the kernel is compiled.

STENCIL_DEVICE float float_from_f16(unsigned short bits) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}

STENCIL_DEVICE unsigned short f16_from_float(float value) {
  unsigned short bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value));
  return bits;
}

STENCIL_DEVICE float float_from_bf16(unsigned short bits) { return __uint_as_float(static_cast<unsigned>(bits) << 16); }

/// Round to nearest even; NaN stays NaN.
STENCIL_DEVICE unsigned short bf16_from_float(float value) {
  const unsigned bits = __float_as_uint(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<unsigned short>((bits >> 16) | 0x0040u);
  return static_cast<unsigned short>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

/// The nearest whole number, within the range; NaN: 0.
STENCIL_DEVICE int int_from(float x) { return __float2int_rn(x); }
STENCIL_DEVICE int int_from(double x) { return __double2int_rn(x); }

/// Where one of both is NaN, the result is the other.
STENCIL_DEVICE float minimum(float a, float b) { return fminf(a, b); }
STENCIL_DEVICE double minimum(double a, double b) { return fmin(a, b); }
STENCIL_DEVICE float maximum(float a, float b) { return fmaxf(a, b); }
STENCIL_DEVICE double maximum(double a, double b) { return fmax(a, b); }
STENCIL_DEVICE float square_root(float x) { return sqrtf(x); }
STENCIL_DEVICE double square_root(double x) { return sqrt(x); }
// Within the rounding of a root and a division: 2 units in the last place, 1 in f64.
STENCIL_DEVICE float inverse_root(float x) { return rsqrtf(x); }
STENCIL_DEVICE double inverse_root(double x) { return rsqrt(x); }
STENCIL_DEVICE float exponential(float x) { return expf(x); }
STENCIL_DEVICE double exponential(double x) { return exp(x); }
STENCIL_DEVICE float sine(float x) { return sinf(x); }
STENCIL_DEVICE double sine(double x) { return sin(x); }
STENCIL_DEVICE float cosine(float x) { return cosf(x); }
STENCIL_DEVICE double cosine(double x) { return cos(x); }
STENCIL_DEVICE float tangent(float x) { return tanf(x); }
STENCIL_DEVICE double tangent(double x) { return tan(x); }
STENCIL_DEVICE float hyperbolic_tangent(float x) { return tanhf(x); }
STENCIL_DEVICE double hyperbolic_tangent(double x) { return tanh(x); }
STENCIL_DEVICE float logarithm(float x) { return logf(x); }
STENCIL_DEVICE double logarithm(double x) { return log(x); }
STENCIL_DEVICE float power(float x, float y) { return powf(x, y); }
STENCIL_DEVICE double power(double x, double y) { return pow(x, y); }
STENCIL_DEVICE float whole_below(float x) { return floorf(x); }
STENCIL_DEVICE double whole_below(double x) { return floor(x); }
STENCIL_DEVICE float nearest_whole(float x) { return rintf(x); }
STENCIL_DEVICE double nearest_whole(double x) { return rint(x); }
STENCIL_DEVICE float rest_of_division(float x, float y) { return fmodf(x, y); }
STENCIL_DEVICE double rest_of_division(double x, double y) { return fmod(x, y); }
/// 64 bits that stand on a multiple of 4 bytes.
STENCIL_DEVICE long long whole_number(const void* bits) {
  const unsigned* halves = static_cast<const unsigned*>(bits);
  return static_cast<long long>(static_cast<unsigned long long>(halves[1]) << 32 | halves[0]);
}

}  // namespace stencil_tune
