// The functions of libnccl that we call, resolved at run time, and declared here: NCCL's header is not needed.
#pragma once

#include "runtime/cuda/shared_library.hpp"

#include <cstddef>
#include <string>
#include <string_view>

struct CUstream_st;
struct ncclComm;

namespace stencil_tune {

// Values of NCCL's enums that we use; they are part of its ABI since 2.0 (kNcclInProgress: 2.14).
inline constexpr int kNcclSuccess = 0;
inline constexpr int kNcclInProgress = 7;
inline constexpr int kNcclBytes = 0;  // ncclInt8

struct NcclApi {
  SharedLibrary library;
  int (*version)(int*) = nullptr;
  const char* (*error_string)(int) = nullptr;
  int (*count)(ncclComm*, int*) = nullptr;
  int (*user_rank)(ncclComm*, int*) = nullptr;
  int (*device)(ncclComm*, int*) = nullptr;
  int (*async_error)(ncclComm*, int*) = nullptr;
  int (*abort)(ncclComm*) = nullptr;
  int (*group_start)() = nullptr;
  int (*group_end)() = nullptr;
  int (*send)(const void*, std::size_t, int, int, ncclComm*, CUstream_st*) = nullptr;
  int (*receive)(void*, std::size_t, int, int, ncclComm*, CUstream_st*) = nullptr;
  int (*all_gather)(const void*, void*, std::size_t, int, ncclComm*, CUstream_st*) = nullptr;

  /// A path, a folder or a soname. Throws Error(missing_library).
  static NcclApi open(const std::string& where);
};

/// STENCIL_TUNE_NCCL, else "libnccl.so.2". Opened at first use. Throws Error(missing_library).
const NcclApi& nccl_api();

}  // namespace stencil_tune
