#include "tuner/session/say.hpp"

namespace stencil_tune {

void say(std::FILE* out, std::string_view text) noexcept {
  std::fwrite(text.data(), 1, text.size(), out);
  std::fflush(out);
}

}  // namespace stencil_tune
