#include "distributed/nccl_api.hpp"

#include "stencil_tune/error.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

namespace stencil_tune {

NcclApi NcclApi::open(const std::string& where) {
  constexpr const char* kSoname = "libnccl.so.2";
  const std::string path =
      std::filesystem::is_directory(where) ? (std::filesystem::path(where) / kSoname).string() : where;
  std::string why;
  auto library = SharedLibrary::open(path, &why);
  if (!library) {
    throw Error(ErrorCode::missing_library,
                fmt::format("NCCL is needed to exchange halos between GPUs: {}; install it, or say where it is in "
                            "STENCIL_TUNE_NCCL",
                            why));
  }
  NcclApi api{.library = std::move(*library)};
  api.library.require(api.version, "ncclGetVersion");
  api.library.require(api.error_string, "ncclGetErrorString");
  api.library.require(api.count, "ncclCommCount");
  api.library.require(api.user_rank, "ncclCommUserRank");
  api.library.require(api.device, "ncclCommCuDevice");
  api.library.require(api.async_error, "ncclCommGetAsyncError");
  api.library.require(api.abort, "ncclCommAbort");
  api.library.require(api.group_start, "ncclGroupStart");
  api.library.require(api.group_end, "ncclGroupEnd");
  api.library.require(api.send, "ncclSend");
  api.library.require(api.receive, "ncclRecv");
  api.library.require(api.all_gather, "ncclAllGather");
  return api;
}

const NcclApi& nccl_api() {
  // Never destroyed: communicators may live as long as the program.
  static const auto* api = [] {
    const char* named = std::getenv("STENCIL_TUNE_NCCL");
    return new NcclApi(NcclApi::open(named != nullptr && *named != '\0' ? named : "libnccl.so.2"));
  }();
  return *api;
}

}  // namespace stencil_tune
