// Which commit this program was built from: recorded results name it.
#pragma once

namespace stencil_tune {

/// "0144ede1a2b3", with "-dirty" behind it when files had been changed; "unknown" outside a checkout.
const char* built_from_commit() noexcept;

}  // namespace stencil_tune
