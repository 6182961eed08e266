#include "tuner/workers/protocol.hpp"

#include "stencil_tune/error.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace stencil_tune {
namespace {

std::vector<std::uint8_t> joined(const std::vector<Message>& messages) {
  std::vector<std::uint8_t> bytes;
  for (const Message& message : messages) {
    const auto one = frame(message);
    bytes.insert(bytes.end(), one.begin(), one.end());
  }
  return bytes;
}

TEST(Protocol, GivesBackMessagesWithBinariesAndSpecialNumbers) {
  const std::vector<std::uint8_t> cubin{0x7f, 'E', 'L', 'F', 0, 255};
  Message sent{{"cubin", Message::binary(cubin)}, {"ms", 0.25}, {"cells", std::int64_t{1} << 40}};
  MessageDecoder decoder;
  decoder.feed(frame(sent));
  const auto received = decoder.next();
  ASSERT_TRUE(received);
  EXPECT_EQ(*received, sent);
  const std::vector<std::uint8_t>& bytes = (*received)["cubin"].get_binary();
  EXPECT_EQ(bytes, cubin);
}

TEST(Protocol, WaitsForTheLastByteOfAMessage) {
  const auto bytes = frame({{"a", 1}});
  MessageDecoder decoder;
  for (std::size_t i = 0; i + 1 < bytes.size(); ++i) {
    decoder.feed({&bytes[i], 1});
    EXPECT_FALSE(decoder.next()) << "after byte " << i;
  }
  decoder.feed({&bytes.back(), 1});
  EXPECT_TRUE(decoder.next());
}

TEST(Protocol, SplitsWhatArrivesTogether) {
  MessageDecoder decoder;
  decoder.feed(joined({1, "two", nullptr}));
  EXPECT_EQ(decoder.next(), Message(1));
  EXPECT_EQ(decoder.next(), Message("two"));
  EXPECT_EQ(decoder.next(), Message(nullptr));
  EXPECT_FALSE(decoder.next());
}

TEST(Protocol, RefusesAnAbsurdLengthBeforeWaitingForIt) {
  MessageDecoder decoder;
  const std::string text = "Segmentation fault";
  decoder.feed({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  EXPECT_THROW(decoder.next(), Error);
}

TEST(Protocol, RefusesBytesThatAreNotCbor) {
  MessageDecoder decoder;
  const std::vector<std::uint8_t> bytes{2, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  decoder.feed(bytes);
  EXPECT_THROW(decoder.next(), Error);
}

TEST(Protocol, RefusesNestingThatReadingWouldTakeAllStackFor) {
  constexpr std::size_t kDepth = 4'000'000;
  std::vector<std::uint8_t> bytes(8 + kDepth, 0x81);  // a list of one, of one, of one ...
  for (std::size_t i = 0; i < 8; ++i) bytes[i] = static_cast<std::uint8_t>(kDepth >> (8 * i));
  MessageDecoder decoder;
  decoder.feed(bytes);
  EXPECT_THROW(decoder.next(), Error);
}

}  // namespace
}  // namespace stencil_tune
