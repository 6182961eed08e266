// Fuzz target: what a worker process writes, as the session takes it in.
#include "stencil_tune/error.hpp"
#include "tests/fuzz/harm.hpp"
#include "tuner/workers/wire.hpp"

using namespace stencil_tune;

namespace {

template <class Value>
void take_as(const Message& message) {
  try {
    answer_as<Value>(message);
  } catch (const Message::exception&) {
  } catch (const Error& error) {
    require(error.code() == ErrorCode::malformed_code, error.what());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    MessageDecoder decoder;
    decoder.feed({data, size});
    while (const auto message = decoder.next()) {
      take_as<CompileResult>(*message);
      take_as<DeviceResult>(*message);
      take_as<DeviceSession>(*message);
      take_as<std::vector<DeviceResult>>(*message);
    }
  } catch (const Error& error) {
    require(error.code() == ErrorCode::internal, error.what());
  }
  return 0;
}
