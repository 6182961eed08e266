// The checking kernels of tuner/verify/device, compiled for the session's device and element type, as functions.
#pragma once

#include "runtime/compile/compiler.hpp"
#include "runtime/cuda/module.hpp"
#include "tuner/verify/device/arguments.h"
#include "tuner/verify/device/cell_arguments.h"

#include <span>
#include <string_view>

namespace stencil_tune {

/// NVRTC with the headers of tuner/verify/device. Throws Error(missing_library).
std::unique_ptr<Compiler> open_check_compiler();

/// The sources: one translation unit each, whose kernels are all extern "C".
KernelSource verification_source(int slots);
KernelSource copy_source();
KernelSource cells_source();

/// A loaded translation unit with several kernels.
class KernelLibrary {
 public:
  KernelLibrary(Driver& driver, const CompiledKernel& binary)
      : driver_(driver), module_(driver.load_module(binary.cubin)) {}
  KernelLibrary(const KernelLibrary&) = delete;
  KernelLibrary& operator=(const KernelLibrary&) = delete;
  ~KernelLibrary() { driver_.unload_module(module_); }

  CUfunc_st* find(const std::string& entry) const { return driver_.function(module_, entry); }

 private:
  Driver& driver_;
  CUmod_st* module_;
};

/// Asynchronous launches on one stream.
class CheckKernels {
 public:
  CheckKernels(Driver& driver, const CompiledKernel& binary, CUstream_st* stream);

  void fill(const check::FillArguments& arguments) const;
  void poison(const check::PoisonArguments& arguments) const;
  void reference(const check::ReferenceArguments& arguments) const;
  void compare(const check::CompareArguments& arguments) const;
  void untouched(const check::UntouchedArguments& arguments) const;
  void unchanged(const check::UnchangedArguments& arguments) const;

  Driver& driver() const noexcept { return driver_; }
  CUstream_st* stream() const noexcept { return stream_; }

 private:
  template <class Arguments>
  void launch(CUfunc_st* function, std::int64_t width, std::int64_t rows, const Arguments& arguments) const;

  Driver& driver_;
  CUstream_st* stream_;
  KernelLibrary library_;
  CUfunc_st* fill_;
  CUfunc_st* poison_;
  CUfunc_st* reference_;
  CUfunc_st* compare_;
  CUfunc_st* untouched_;
  CUfunc_st* unchanged_;
};

/// For the arrays of users' kernels.
class CellKernels {
 public:
  CellKernels(Driver& driver, const CompiledKernel& binary, CUstream_st* stream);

  void fill(const check::FillCellsArguments& arguments) const;

  /// Waits.
  check::CellReport compare(check::CompareCellsArguments arguments) const;

 private:
  Driver& driver_;
  CUstream_st* stream_;
  KernelLibrary library_;
  CUfunc_st* fill_;
  CUfunc_st* compare_;
  mutable DeviceBuffer report_;
};

}  // namespace stencil_tune
