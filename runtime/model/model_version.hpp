// Which model made a prediction: what another one said is no evidence beside it.
#pragma once

namespace stencil_tune {

/// "model 3f9ca1b2c3d4": a digest of the model's sources and calibrations, made by the build.
const char* model_version() noexcept;

}  // namespace stencil_tune
