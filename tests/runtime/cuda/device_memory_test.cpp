#include "stencil_tune/device_memory.hpp"

#include "tests/runtime/expect_error.hpp"

namespace stencil_tune {
namespace {

TEST(PaddedPitch, RowsStartOnLinesOf128Bytes) {
  EXPECT_EQ(padded_pitch(512, ElementType::f32), 512);
  EXPECT_EQ(padded_pitch(509, ElementType::f32), 512);
  EXPECT_EQ(padded_pitch(1, ElementType::f64), 16);
  EXPECT_EQ(padded_pitch(65, ElementType::f16), 128);
  EXPECT_ERROR(padded_pitch(0, ElementType::f32), ErrorCode::invalid_argument, "at least one");
}

}  // namespace
}  // namespace stencil_tune
