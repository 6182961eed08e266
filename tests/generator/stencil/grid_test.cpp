#include "stencil_tune/grid.hpp"
#include "generator/suggest.hpp"
#include "stencil_tune/error.hpp"

#include <gtest/gtest.h>

namespace stencil_tune {
namespace {

template <typename Function>
Error error_of(Function function) {
  try {
    function();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error was thrown";
  return Error(ErrorCode::internal, "");
}

bool contains(const Error& error, std::string_view text) {
  return std::string_view(error.what()).find(text) != std::string_view::npos;
}

TEST(ErrorCode, IsNamedByItsEnumerator) {
  EXPECT_EQ(name(ErrorCode::unknown_name), "unknown_name");
  EXPECT_EQ(name(ErrorCode::internal), "internal");
  EXPECT_EQ(name(ErrorCode::database_newer), "database_newer");
}

TEST(ElementType, ParsesWhatItPrints) {
  for (const ElementType type : {ElementType::f64, ElementType::f32, ElementType::f16, ElementType::bf16}) {
    EXPECT_EQ(parse_element_type(name(type)), type);
  }
}

TEST(ElementType, KnowsItsSize) {
  EXPECT_EQ(size_of(ElementType::f64), 8u);
  EXPECT_EQ(size_of(ElementType::f32), 4u);
  EXPECT_EQ(size_of(ElementType::bf16), 2u);
  EXPECT_TRUE(is_half(ElementType::f16));
  EXPECT_FALSE(is_half(ElementType::f32));
}

TEST(ElementType, UnknownNameSuggestsTheNearest) {
  const Error error = error_of([] { parse_element_type("bf61"); });
  EXPECT_EQ(error.code(), ErrorCode::unknown_name);
  EXPECT_TRUE(contains(error, "did you mean 'bf16'")) << error.what();
}

TEST(Boundaries, OneNameIsMeantForEveryAxis) {
  EXPECT_EQ(parse_boundaries("periodic", 2), (Boundaries{Boundary::periodic, Boundary::periodic, Boundary::periodic}));
}

TEST(Boundaries, AxesLeftOutHold) {
  EXPECT_EQ(parse_boundaries("y=zero", 3), (Boundaries{Boundary::hold, Boundary::zero, Boundary::hold}));
}

TEST(Boundaries, ParseWhatTheyPrint) {
  const Boundaries mixed{Boundary::periodic, Boundary::hold, Boundary::reflect};
  EXPECT_EQ(to_string(mixed, 3), "x=periodic,y=hold,z=reflect");
  EXPECT_EQ(parse_boundaries(to_string(mixed, 3), 3), mixed);
  EXPECT_EQ(to_string({Boundary::clamp, Boundary::clamp, Boundary::hold}, 2), "clamp");
}

TEST(Boundaries, RejectAxesBeyondTheRankRepeatsAndUnknownNames) {
  EXPECT_EQ(error_of([] { parse_boundaries("z=hold", 2); }).code(), ErrorCode::unknown_name);
  EXPECT_EQ(error_of([] { parse_boundaries("x=hold,x=zero", 2); }).code(), ErrorCode::invalid_argument);
  EXPECT_EQ(error_of([] { parse_boundaries("x=hold,zero", 2); }).code(), ErrorCode::invalid_argument);
  const Error error = error_of([] { parse_boundaries("x=perodic", 2); });
  EXPECT_TRUE(contains(error, "'periodic'")) << error.what();
  for (const char* text : {"x:periodic", "periodic,hold", "x=hold,y:zero"}) {
    const Error no_axis = error_of([&] { parse_boundaries(text, 2); });
    EXPECT_TRUE(contains(no_axis, "is not AXIS=KIND")) << no_axis.what();
    EXPECT_TRUE(contains(no_axis, "x=periodic,y=hold,z=zero")) << no_axis.what();
  }
}

TEST(LayerWidths, OneNumberIsMeantForBothEndsOfEveryAxis) {
  EXPECT_EQ(parse_layer_widths("20", 3), (LayerWidths{{20, 20, 20}, {20, 20, 20}}));
  EXPECT_EQ(parse_layer_widths("20:0", 2), (LayerWidths{{20, 20, 0}, {0, 0, 0}}));
}

TEST(LayerWidths, AxesLeftOutHaveNone) {
  EXPECT_EQ(parse_layer_widths("z=0:20,x=3", 3), (LayerWidths{{3, 0, 0}, {3, 0, 20}}));
}

TEST(LayerWidths, ParseWhatTheyPrint) {
  const LayerWidths mixed{{20, 0, 7}, {20, 5, 0}};
  EXPECT_EQ(to_string(mixed, 3), "x=20,y=0:5,z=7:0");
  for (const LayerWidths& widths : {mixed, LayerWidths{}, LayerWidths{{9, 9, 9}, {9, 9, 9}}}) {
    EXPECT_EQ(parse_layer_widths(to_string(widths, 3), 3), widths);
  }
  EXPECT_EQ(to_string(LayerWidths{{4, 4, 0}, {4, 4, 0}}, 2), "4");
}

TEST(LayerWidths, RejectWhatIsNoWidth) {
  for (const char* text : {"", "-1", "2.5", "20:", ":20", "1:2:3", "99999999999999999999", "x=", "x=3,4", "x=3,x=4"}) {
    const Error error = error_of([&] { parse_layer_widths(text, 3); });
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << text;
    EXPECT_TRUE(contains(error, "x=20,y=20,z=0:20")) << error.what();
  }
  EXPECT_EQ(error_of([] { parse_layer_widths("z=3", 2); }).code(), ErrorCode::unknown_name);
}

TEST(Extents, OneNumberIsMeantForEveryAxis) {
  EXPECT_EQ(parse_extents("512", 3), (Extents{3, {512, 512, 512}}));
  EXPECT_EQ(parse_extents("512", 1), (Extents{1, {512, 1, 1}}));
}

TEST(Extents, SeveralNumbersSetTheRank) {
  EXPECT_EQ(parse_extents("509x487x601", 3), (Extents{3, {509, 487, 601}}));
  EXPECT_EQ(parse_extents("7x9", 3), (Extents{2, {7, 9, 1}}));
  EXPECT_EQ(to_string(parse_extents("7x9", 3)), "7x9");
}

TEST(Extents, CellsAreCountedIn64Bits) { EXPECT_EQ(parse_extents("4096x2048x1024", 3).cells(), std::int64_t{1} << 33); }

TEST(Extents, RejectWhatIsNoGridAndSayWhy) {
  const std::pair<const char*, const char*> cases[] = {
      {"0", "zero"},        {"-4", "negative"},  {"8x-1", "negative"}, {"abc", "not a whole number"},
      {"1.5", "whole"},     {"", "missing"},     {"8x", "missing"},    {"x8", "missing"},
      {"8x8x8x8", "4 num"}, {"8 x8", "whole"},   {"0x10", "zero"},     {"99999999999999999999", "too large"},
      {"+3", "whole"},      {"8xx8", "missing"}, {"1e3", "whole"},     {"3000000000x3000000000x2", "64 bits"},
  };
  for (const auto& [text, why] : cases) {
    const Error error = error_of([text = text] { parse_extents(text, 3); });
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << text;
    EXPECT_TRUE(contains(error, why)) << text << " -> " << error.what();
  }
}

TEST(Suggestion, CountsEdits) {
  EXPECT_EQ(edit_distance("star", "star"), 0u);
  EXPECT_EQ(edit_distance("satr", "star"), 1u);
  EXPECT_EQ(edit_distance("Star", "star"), 0u);
  EXPECT_EQ(edit_distance("", "star"), 4u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

TEST(Suggestion, StaysSilentWhenNothingIsNear) {
  EXPECT_EQ(nearest_name("qqqqqq", {"hold", "zero"}), "");
  EXPECT_EQ(did_you_mean("hodl", {"hold", "zero"}), "; did you mean 'hold'?");
}

TEST(Suggestion, TakesABeginningForAnyNameThatGoesOn) {
  const std::vector<std::string> names{"heat1d", "heat2d", "heat3d", "jacobi1d"};
  EXPECT_EQ(did_you_mean("heat", names), "; did you mean heat1d, heat2d, heat3d?");
  EXPECT_EQ(did_you_mean("he", names), "") << "that is too little";
  EXPECT_EQ(did_you_mean("sta", {"star1", "star2", "star3", "star4", "star5"}),
            "; did you mean star1, star2, star3, star4 ...?");
}

}  // namespace
}  // namespace stencil_tune
