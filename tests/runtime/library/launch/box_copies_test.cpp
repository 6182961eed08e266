// Boxes of fields packed into a dense array and unpacked from it, and the kernel that does so.
#include "runtime/library/launch/box_copies.hpp"

#include "runtime/compile/compiler.hpp"
#include "stencil_tune/error.hpp"
#include "tests/runtime/library/host_driver.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <numeric>
#include <vector>

namespace stencil_tune {
namespace {

TEST(BoxCopies, CompileForAGpu) {
  std::unique_ptr<Compiler> compiler;
  try {
    compiler = open_nvrtc();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::missing_library) throw;
    GTEST_SKIP() << "no NVRTC here";
  }
  for (const std::size_t cell_bytes : {2U, 4U, 8U}) {
    EXPECT_GT(compiler->compile(box_copy_source(cell_bytes), "sm_90").cubin.size(), 0U);
  }
}

/// More boxes than a launch takes, of all shapes, from a field with padded rows and back into another.
template <class Cell>
void expect_round_trip() {
  constexpr std::int64_t kPitch = 19, kRows = 11, kPlanes = 7, kBoxes = 150;
  std::vector<Cell> field(kPitch * kRows * kPlanes), back(field.size(), 0), expected = back;
  std::iota(field.begin(), field.end(), Cell{1});
  std::vector<Cell> dense(8 * field.size());
  HostDriver driver;
  const LoadedKernel plain(driver, std::make_shared<SourceCompiler>(), {}, "sm_90", "13.0");
  BoxCopier copier(plain.beside(box_copy_source(sizeof(Cell))), sizeof(Cell));
  const std::uint64_t here = driver.current_context_id();
  EXPECT_THROW(copier.copy(here, std::vector{BoxCopy{{}, {}, {1, 1, 1}}}, nullptr), Error);
  copier.prepare();
  std::vector<BoxCopy> packing, unpacking;
  std::vector<Cell> in_order;
  for (std::int64_t i = 0; i < kBoxes; ++i) {
    const Box box{{i % 3, i % 5, i % 4}, {i % 3 + 1 + i % 13, i % 5 + i % 6, i % 4 + 1 + i % 2}};  // some are empty
    const auto extent = extent_of(box);
    const CellRows packed{reinterpret_cast<DevicePointer>(dense.data() + in_order.size()), extent[0],
                          extent[0] * extent[1]};
    const auto in = [&](std::vector<Cell>& array) {
      return CellRows{reinterpret_cast<DevicePointer>(array.data()), kPitch, kPitch * kRows}.at(box.low, sizeof(Cell));
    };
    packing.push_back({in(field), packed, extent});
    unpacking.push_back({packed, in(back), extent});
    for (std::int64_t z = box.low[2]; z < box.high[2]; ++z) {
      for (std::int64_t y = box.low[1]; y < box.high[1]; ++y) {
        for (std::int64_t x = box.low[0]; x < box.high[0]; ++x) {
          const auto cell = static_cast<std::size_t>((z * kRows + y) * kPitch + x);
          in_order.push_back(field[cell]);
          expected[cell] = field[cell];
        }
      }
    }
  }
  copier.copy(here, packing, nullptr);
  EXPECT_TRUE(std::equal(in_order.begin(), in_order.end(), dense.begin()));
  copier.copy(here, unpacking, nullptr);
  EXPECT_EQ(back, expected);
  EXPECT_EQ(driver.copied_boxes, 2 * 4) << "32 boxes a launch, empty ones left out";
}

TEST(BoxCopies, PackAndUnpackCellsOfEverySize) {
  expect_round_trip<std::uint16_t>();
  expect_round_trip<std::uint32_t>();
  expect_round_trip<std::uint64_t>();
}

/// A box that its blocks walk over, beside one of a cell.
TEST(BoxCopies, WalkOverMoreCellsThanTheirBlocksHave) {
  constexpr std::int64_t kRow = 1009, kRows = 1051;
  std::vector<std::uint16_t> from(2 * kRow * kRows + 1), to(from.size(), 0);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::uint16_t>(i * 40503 >> 8);
  HostDriver driver;
  const LoadedKernel plain(driver, std::make_shared<SourceCompiler>(), {}, "sm_90", "13.0");
  BoxCopier copier(plain.beside(box_copy_source(2)), 2);
  copier.prepare();
  const auto rows = [](std::uint16_t* first) {
    return CellRows{reinterpret_cast<DevicePointer>(first), kRow, kRow * kRows};
  };
  copier.copy(driver.current_context_id(),
              std::vector{BoxCopy{rows(from.data()), rows(to.data()), {kRow, kRows, 2}},
                          BoxCopy{rows(&from.back()), rows(&to.back()), {1, 1, 1}}},
              nullptr);
  EXPECT_EQ(from, to);
}

class RecordedBoxCopies : public ::testing::Test {
 protected:
  void SetUp() override { copier_.prepare(); }
  std::vector<BoxArgument<std::byte>> copy(const BoxCopy& box) {
    driver_.box_copies.clear();
    copier_.copy(driver_.current_context_id(), std::vector{box}, nullptr);
    EXPECT_EQ(driver_.box_copies.size(), 1U);
    return boxes_of(driver_.box_copies.at(0));
  }

  FakeDriver driver_;
  const LoadedKernel plain_{driver_, std::make_shared<SourceCompiler>(), {}, "sm_90", "13.0"};
  BoxCopier copier_{plain_.beside(box_copy_source(2)), 2};
};

TEST_F(RecordedBoxCopies, AreOfPiecesThatAKernelCanCount) {
  constexpr std::int64_t kRow = 4096, kPlane = kRow * 4096, kPlanes = 301;
  std::int64_t planes = 0;
  for (const auto& piece : copy({{0x1000, kRow, kPlane}, {0x2000, kRow, kPlane}, {kRow, 4096, kPlanes}})) {
    const auto ahead = static_cast<std::uint64_t>(planes * kPlane) * 2;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(piece.from), 0x1000U + ahead);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(piece.to), 0x2000U + ahead);
    EXPECT_LE(piece.extent[2] * kPlane, std::int64_t{1} << 30);
    planes += piece.extent[2];
  }
  EXPECT_EQ(planes, kPlanes);
}

TEST_F(RecordedBoxCopies, DivideByMultiplying) {
  constexpr std::uint64_t kMost = 1U << 30;
  for (const std::uint64_t divisor : {1U, 2U, 3U, 5U, 7U, 255U, 257U, 641U, 65535U, 65537U, (1U << 30) - 1, 1U << 30}) {
    const Divisor row = copy({{}, {}, {static_cast<std::int64_t>(divisor), 1, 1}}).at(0).row;
    for (std::uint64_t i = 0; i < 3000; ++i) {
      const std::uint64_t multiple = kMost / divisor * i / 2999 * divisor;
      for (const std::uint64_t number : {multiple, multiple + divisor - 1}) {
        ASSERT_EQ(number * row.multiplier >> row.shift, number / divisor) << number << " / " << divisor;
      }
    }
  }
}

}  // namespace
}  // namespace stencil_tune
