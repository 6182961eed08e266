#include "tuner/verify/device/storage.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace stencil_tune::check {
namespace {

TEST(Storage, EveryF16AndBf16SurvivesTheWayToFloatAndBack) {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const auto stored = static_cast<unsigned short>(bits);
    if (!std::isnan(from_f16(stored))) {
      EXPECT_EQ(to_f16(from_f16(stored)), stored);
    }
    if (!std::isnan(from_bf16(stored))) {
      EXPECT_EQ(to_bf16(from_bf16(stored)), stored);
    }
  }
}

TEST(Storage, KnownValues) {
  EXPECT_EQ(to_f16(1.0f), 0x3c00);
  EXPECT_EQ(to_f16(-2.0f), 0xc000);
  EXPECT_EQ(from_f16(0x7bff), 65504.0f);
  EXPECT_EQ(from_f16(0x0001), 0x1p-24f);
  EXPECT_EQ(to_bf16(1.0f), 0x3f80);
  EXPECT_EQ(from_bf16(0xc049), -3.140625f);
}

TEST(Storage, RoundsToNearestAndTiesToEven) {
  EXPECT_EQ(from_f16(to_f16(1 + 0x1p-11f)), 1.0f);                     // tie, even below
  EXPECT_EQ(from_f16(to_f16(1 + 3 * 0x1p-11f)), 1 + 0x1p-9f);          // tie, even above
  EXPECT_EQ(from_f16(to_f16(1 + 0x1p-11f + 0x1p-20f)), 1 + 0x1p-10f);  // above the tie
  EXPECT_EQ(from_f16(to_f16(0x1p-25f)), 0.0f);                         // tie with zero
  EXPECT_EQ(from_f16(to_f16(0x1.8p-25f)), 0x1p-24f);
  EXPECT_EQ(from_bf16(to_bf16(1 + 0x1p-8f)), 1.0f);
  EXPECT_EQ(from_bf16(to_bf16(1 + 3 * 0x1p-8f)), 1 + 0x1p-6f);
}

TEST(Storage, CarriesIntoTheNextBinadeAndOverflowsToInfinity) {
  EXPECT_EQ(from_f16(to_f16(2 - 0x1p-12f)), 2.0f);
  EXPECT_EQ(from_f16(to_f16(0x1p-14f - 0x1p-26f)), 0x1p-14f);  // subnormal to normal
  EXPECT_TRUE(std::isinf(from_f16(to_f16(65520.0f))));
  EXPECT_EQ(from_f16(to_f16(65519.0f)), 65504.0f);
  EXPECT_TRUE(std::isinf(from_bf16(to_bf16(std::numeric_limits<float>::max()))));
}

TEST(Storage, KeepsNanAndInfinity) {
  EXPECT_TRUE(std::isnan(from_f16(to_f16(std::numeric_limits<float>::quiet_NaN()))));
  EXPECT_TRUE(std::isnan(from_bf16(to_bf16(std::numeric_limits<float>::quiet_NaN()))));
  EXPECT_EQ(from_f16(to_f16(-std::numeric_limits<float>::infinity())), -std::numeric_limits<float>::infinity());
}

}  // namespace
}  // namespace stencil_tune::check
