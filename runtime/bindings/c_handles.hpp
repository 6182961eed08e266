// What the C interface's handles stand for.
#pragma once

#include "stencil_tune/library.hpp"

#include <string>
#include <vector>

struct stencil_tune_library {
  stencil_tune::Library library;
};

struct stencil_tune_stencil {
  stencil_tune::Stencil stencil;
  std::string key;
  std::string text;
  std::string type;  ///< empty: any
};

struct stencil_tune_kernel {
  struct Stage {
    std::string sentence;
    std::string notes;  ///< a line each
  };

  stencil_tune::Kernel kernel;
  std::string evidence;  ///< a sentence a stage
  std::vector<Stage> stages;
  std::string architecture;
  int fields;
  int coefficients;
};

namespace stencil_tune {

/// Owned by the caller: stencil_tune_close(), stencil_tune_release().
stencil_tune_library* make_c_handle(Library library);
stencil_tune_kernel* make_c_handle(Kernel kernel, int fields, int coefficients);

}  // namespace stencil_tune
