// What the C interface's handles stand for.
#pragma once

#include "stencil_tune/library.hpp"
#include "stencil_tune/stencil_tune.h"

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

struct CUctx_st;

struct stencil_tune_library {
  stencil_tune::Library library;
};

namespace stencil_tune {

/// What a step does with a field.
struct FieldRole {
  bool is_input = false;   ///< reads what it held before
  bool is_output = false;  ///< writes it
  int next = 0;            ///< the field whose buffer stands for it afterwards
  int layers = 0;          ///< the field whose held layers its buffer has once steps have written it
};

}  // namespace stencil_tune

struct stencil_tune_stencil {
  stencil_tune::Stencil stencil;
  std::string key;
  std::string text;
  std::string type;  ///< empty: any
  std::vector<stencil_tune::FieldRole> roles;
};

struct stencil_tune_kernel {
  struct Stage {
    std::string sentence;
    std::string notes;  ///< a line each
  };

  stencil_tune::Kernel kernel;
  std::string evidence;  ///< a sentence a stage
  std::vector<Stage> stages;
  Stage run;  ///< the kernel that most of a long run goes through
  std::string architecture;
  int fields;
  int coefficients;
  std::atomic<CUctx_st*> primary = nullptr;    ///< context of the kernel's GPU, once a call needed it
  std::atomic<std::uint64_t> prepared_in = 0;  ///< the context that a call on any thread was last prepared in
};

struct stencil_tune_user_kernel {
  stencil_tune::TunedKernel kernel;
  std::string evidence;
  std::vector<std::string> types;            ///< types of the arguments: "f32*", "i32"
  std::atomic<CUctx_st*> primary = nullptr;  ///< context of the kernel's GPU, once a call needed it
};

struct stencil_tune_points {
  stencil_tune::Points points;
  std::string notes;  ///< a line each
};

namespace stencil_tune {

/// Owned by the caller: stencil_tune_release_points().
stencil_tune_points* place_c_points(stencil_tune_kernel& kernel, const stencil_tune_point_list& list);
/// What C asks for. Throws Error: invalid_argument, unknown_name, file_io, malformed_definition.
Request to_request(const stencil_tune_request& given);
/// Owned by the caller: stencil_tune_close(), stencil_tune_release().
stencil_tune_library* make_c_handle(Library library);
stencil_tune_kernel* make_c_handle(Kernel kernel, int fields, int coefficients);
stencil_tune_points* make_c_handle(Points points);
/// Throws Error(invalid_argument).
PointList to_point_list(const stencil_tune_point_list& given);

}  // namespace stencil_tune
