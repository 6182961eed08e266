#include "runtime/library/launch/workspace.hpp"

#include "tests/runtime/expect_error.hpp"
#include "tests/runtime/fake_driver.hpp"

namespace stencil_tune {
namespace {

CUstream_st* stream(std::uintptr_t number) { return reinterpret_cast<CUstream_st*>(number); }

TEST(Workspaces, TheFirstStreamThatAsksHasWhatWasPreparedForAny) {
  FakeDriver driver;
  Workspaces workspaces(driver, 2, 1000);
  workspaces.prepare(std::nullopt);
  const std::vector<void*> buffers = workspaces.of(stream(1));
  ASSERT_EQ(buffers.size(), 2u);
  EXPECT_EQ(workspaces.bytes(), 2048u) << "each begins as an allocation does";
  EXPECT_EQ(workspaces.of(stream(1)), buffers);
  workspaces.prepare(std::nullopt);
  EXPECT_ERROR(workspaces.of(stream(2)), ErrorCode::invalid_argument, "prepare(stream)");
}

TEST(Workspaces, EachPreparedStreamHasItsOwn) {
  FakeDriver driver;
  Workspaces workspaces(driver, 1, 1000);
  workspaces.prepare(stream(1));
  workspaces.prepare(stream(2));
  EXPECT_NE(workspaces.of(stream(1)), workspaces.of(stream(2)));
}

TEST(Workspaces, BelongToTheirContext) {
  FakeDriver driver;
  Workspaces workspaces(driver, 1, 1000);
  workspaces.prepare(std::nullopt);
  driver.context_number = 2;
  EXPECT_ERROR(workspaces.of(stream(1)), ErrorCode::invalid_argument, "prepare");
}

TEST(Workspaces, WithoutSpareBuffersNothingIsPreparedNorAsked) {
  FakeDriver driver;
  Workspaces workspaces(driver, 0, 1000);
  workspaces.prepare(std::nullopt);
  EXPECT_TRUE(workspaces.of(stream(1)).empty());
  EXPECT_EQ(workspaces.bytes(), 0u);
}

TEST(Workspaces, EachStreamHasSideStreamsOfItsOwnEvenWithoutBuffers) {
  FakeDriver driver;
  Workspaces workspaces(driver, 0, 1000, 2);
  EXPECT_ERROR(workspaces.sides_of(stream(1)), ErrorCode::invalid_argument, "prepare(stream)");
  workspaces.prepare(stream(1));
  workspaces.prepare(stream(2));
  const SideStreams sides = workspaces.sides_of(stream(1));
  EXPECT_EQ(sides.streams.size(), 2u);
  EXPECT_EQ(sides.done.size(), 2u);
  EXPECT_NE(sides.streams, workspaces.sides_of(stream(2)).streams);
  EXPECT_TRUE(Workspaces(driver, 0, 1000).sides_of(stream(1)).streams.empty());
}

}  // namespace
}  // namespace stencil_tune
