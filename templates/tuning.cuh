// What a generated Tuning may say, and what holds where its family has no such parameter.
#pragma once

#include "stencil_tune/device.cuh"

namespace stencil_tune {

/// Block rasterization: in which order block numbers visit the tiles of the grid.
enum class BlockOrder { natural, z_first, raster, raster32 };

/// How a thread gets the cells left and right of its own.
enum class Neighbours { cache, shuffle };

/// Which tile the threads of a block cover one to one.
enum class Cover { output, input };

/// Generated tunings derive from it; the pieces that several kernels share read these.
struct TuningDefaults {
  static constexpr int kBlockZ = 1;
  static constexpr int kRegisterZ = 1;
  static constexpr int kPrefetch = 0;
  static constexpr int kTiles = 1;
  static constexpr LoadHint kLoad = LoadHint::cached;
  static constexpr Neighbours kNeighbours = Neighbours::cache;
};

}  // namespace stencil_tune
