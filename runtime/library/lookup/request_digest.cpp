#include "runtime/library/library_parts.hpp"

#include <xxhash.h>

#include <array>
#include <bit>

namespace stencil_tune {
namespace {

/// Hashes 64-bit words in lanes that do not wait for each other: a lookup that was made before costs microseconds,
/// also for stencils with thousands of nodes. In each lane every step can be undone, so that a difference in one word
/// stays one; those in more meet by chance alone.
class Digest {
 public:
  static constexpr std::size_t kLanes = 5;

  void add(std::size_t lane, std::uint64_t word) {
    constexpr std::array<std::uint64_t, kLanes> kOdd{0x9e3779b97f4a7c15, 0xc2b2ae3d27d4eb4f, 0x165667b19e3779f9,
                                                     0xd6e8feb86659fd93, 0xa0761d6478bd642f};
    lanes_[lane] = (std::rotl(lanes_[lane], 29) ^ word) * kOdd[lane];
  }
  void add(std::uint64_t word) { add(next_++ % kLanes, word); }

  RequestDigest finish() const {
    const XXH128_hash_t hash = XXH3_128bits(lanes_.data(), sizeof(lanes_));
    return {hash.high64, hash.low64};
  }

 private:
  std::array<std::uint64_t, kLanes> lanes_{1, 2, 3, 4, 5};
  std::size_t next_ = 0;
};

std::uint64_t pair(int high, int low) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(high)) << 32 | static_cast<std::uint32_t>(low);
}

void add_stencil(Digest& digest, const Stencil& stencil) {
  digest.add(pair(stencil.rank, static_cast<int>(stencil.fields.size())));
  digest.add(stencil.coefficients.size());
  digest.add(stencil.nodes.size());
  for (const Coefficient& coefficient : stencil.coefficients) {
    digest.add(std::bit_cast<std::uint64_t>(coefficient.value));
  }
  for (const Node& node : stencil.nodes) {
    digest.add(0, pair(static_cast<int>(node.op), node.index));
    digest.add(1, std::bit_cast<std::uint64_t>(node.value));
    digest.add(2, pair(node.offset[0], node.offset[1]));
    digest.add(3, pair(node.offset[2], node.operands[0]));
    digest.add(4, pair(node.operands[1], node.operands[2]));
  }
  for (const Stage& stage : stencil.stages) {
    digest.add(stage.updates.size());
    for (const Update& update : stage.updates) digest.add(pair(update.output, update.expression));
  }
  for (const Rotation& rotation : stencil.rotations) digest.add(pair(rotation.from, rotation.to));
  digest.add(stencil.holds.size());
  for (const Hold& hold : stencil.holds) digest.add(pair(hold.field, hold.layers_of));
  digest.add(stencil.profiles.size());
  for (const Profile& profile : stencil.profiles) digest.add(pair(profile.field, static_cast<int>(profile.along)));
  digest.add(stencil.layer_fields.size());
  for (const LayerField& field : stencil.layer_fields) digest.add(pair(field.field, field.axis));
  digest.add(stencil.storages.size());
  for (const FieldStorage& storage : stencil.storages) digest.add(pair(storage.field, static_cast<int>(storage.type)));
  const LayerWidths widths = stencil.layers.value_or(LayerWidths{});
  for (const auto& ends : {widths.low, widths.high}) {
    for (const std::int64_t width : ends) digest.add(static_cast<std::uint64_t>(width));
  }
  for (const std::optional<Boundary>& boundary : stencil.boundary) {
    digest.add(boundary ? 1 + static_cast<std::uint64_t>(*boundary) : 0);
  }
  digest.add(stencil.measures ? stencil.measures->reductions.size() : 0);
  if (!stencil.measures) return;
  for (const Reduction reduction : stencil.measures->reductions) digest.add(static_cast<std::uint64_t>(reduction));
  add_stencil(digest, stencil.measures->stencil);
}

}  // namespace

RequestDigest request_digest(const Request& request, int device) {
  Digest digest;
  digest.add(pair(device, static_cast<int>(request.type)));
  for (const std::int64_t extent : request.extents.n) digest.add(static_cast<std::uint64_t>(extent));
  digest.add(static_cast<std::uint64_t>(request.extents.rank));
  for (const Boundary boundary : request.boundaries) digest.add(static_cast<std::uint64_t>(boundary));
  digest.add(static_cast<std::uint64_t>(request.pitch));
  digest.add(request.slabs ? 1 : 0);
  digest.add(request.alignment);
  digest.add(std::bit_cast<std::uint64_t>(request.race_s));
  digest.add(pair(request.steps, static_cast<int>(request.objective)));
  digest.add(XXH3_64bits(request.gpu.data(), request.gpu.size()));
  add_stencil(digest, request.stencil);
  return digest.finish();
}

}  // namespace stencil_tune
