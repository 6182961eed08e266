// The host's stand-in for templates/together.cuh: letters are there at once, and a thread that finds none lets others run.
#pragma once

#include "stencil_tune/device.cuh"

#define STENCIL_TOGETHER

namespace stencil_tune {

struct Letter {
  unsigned content, number;
};

STENCIL_DEVICE void leave_letter(unsigned long long* to, const Letter& letter) { std::memcpy(to, &letter, sizeof letter); }

STENCIL_DEVICE Letter look_for_letter(const unsigned long long* from) {
  Letter letter;
  std::memcpy(&letter, from, sizeof letter);
  return letter;
}

STENCIL_DEVICE unsigned long long* in_register(unsigned long long* address) { return address; }

STENCIL_DEVICE void let_others_run() { stencil_tune_host_services->let_others_run(); }

template <class Value, int kLetters>
STENCIL_DEVICE void contents_of(Value value, unsigned (&contents)[kLetters]) {
  static_assert(sizeof value == sizeof contents);
  std::memcpy(contents, &value, sizeof value);
}
template <class Value, int kLetters>
STENCIL_DEVICE void value_of(const unsigned (&contents)[kLetters], Value& value) {
  static_assert(sizeof value == sizeof contents);
  std::memcpy(&value, contents, sizeof value);
}

struct MailRoom {
  unsigned long long owner;
  unsigned number;
  unsigned done;
};

STENCIL_DEVICE unsigned enter(MailRoom& room, const void* launch, STENCIL_TUNE_CALLER) {
  const auto mine = reinterpret_cast<unsigned long long>(launch);
  if (room.owner != 0 && room.owner != mine) {
    stencil_tune_host_services->fail(host::Rule::other, launch, "another launch left the mail room locked", {file, line});
  }
  room.owner = mine;
  return room.number;
}

STENCIL_DEVICE void leave(MailRoom& room, unsigned blocks, unsigned number) {
  if (++room.done < blocks) return;
  room = {0, number, 0};
}

}  // namespace stencil_tune
