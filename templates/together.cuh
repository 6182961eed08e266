// Blocks that all run at the same time and leave each other letters in global memory, which L2 answers for.
//
// A letter is four bytes of a value and the number of the exchange, which one access of eight bytes moves: who reads the
// number has the value too. So there are no flags and no fences. The launch is cooperative: no block waits for one that
// has no place on the GPU.
#pragma once

#include "stencil_tune/device.cuh"

#define STENCIL_TOGETHER  // the launch says it

namespace stencil_tune {

struct Letter {
  unsigned content, number;
};

STENCIL_DEVICE void leave_letter(unsigned long long* to, const Letter& letter) {
  asm volatile(
      "{\n"
      ".reg .b64 both;\n"
      "mov.b64 both, {%1, %2};\n"
      "st.relaxed.gpu.global.u64 [%0], both;\n"
      "}\n" ::"l"(to),
      "r"(letter.content), "r"(letter.number)
      : "memory");
}

STENCIL_DEVICE Letter look_for_letter(const unsigned long long* from) {
  Letter letter;
  asm volatile(
      "{\n"
      ".reg .b64 both;\n"
      "ld.relaxed.gpu.global.u64 both, [%2];\n"
      "mov.b64 {%0, %1}, both;\n"
      "}\n"
      : "=r"(letter.content), "=r"(letter.number)
      : "l"(from)
      : "memory");
  return letter;
}

/// The address, which is not computed again wherever it is used.
STENCIL_DEVICE unsigned long long* in_register(unsigned long long* address) {
  asm("" : "+l"(address));
  return address;
}

/// Between two looks for the same letter.
STENCIL_DEVICE void let_others_run() {}

STENCIL_DEVICE void contents_of(float value, unsigned (&contents)[1]) { contents[0] = __float_as_uint(value); }
STENCIL_DEVICE void contents_of(double value, unsigned (&contents)[2]) {
  contents[0] = static_cast<unsigned>(__double2loint(value));
  contents[1] = static_cast<unsigned>(__double2hiint(value));
}
STENCIL_DEVICE void value_of(const unsigned (&contents)[1], float& value) { value = __uint_as_float(contents[0]); }
STENCIL_DEVICE void value_of(const unsigned (&contents)[2], double& value) {
  value = __hiloint2double(static_cast<int>(contents[1]), static_cast<int>(contents[0]));
}

/// What launches of one kernel share. Zero when the module is loaded.
struct MailRoom {
  unsigned long long owner;  ///< whose launch uses it; 0: none
  unsigned number;           ///< the last exchange's
  unsigned done;             ///< blocks of the launch that need it no more
};

/// Waits until no other launch uses the room. One thread of each block enters, and all give the same address, which is no
/// other launch's at that time. Returns the number of the last exchange.
STENCIL_DEVICE unsigned enter(MailRoom& room, const void* launch) {
  const unsigned long long mine = reinterpret_cast<unsigned long long>(launch);
  for (;;) {
    const unsigned long long owner = atomicCAS(&room.owner, 0ull, mine);
    if (owner == 0 || owner == mine) break;
  }
  __threadfence();
  return *static_cast<volatile unsigned*>(&room.number);
}

/// The last of so many blocks hands the room on. number: of the launch's last exchange.
STENCIL_DEVICE void leave(MailRoom& room, unsigned blocks, unsigned number) {
  __threadfence();
  if (atomicAdd(&room.done, 1u) + 1 < blocks) return;
  room.done = 0;
  room.number = number;
  __threadfence();
  atomicExch(&room.owner, 0ull);
}

}  // namespace stencil_tune
