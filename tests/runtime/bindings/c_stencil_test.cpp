#include "stencil_tune/stencil_tune.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace {

std::string message() { return stencil_tune_error_message(); }

class CStencilTest : public testing::Test {
 protected:
  ~CStencilTest() override { stencil_tune_stencil_release(stencil_); }

  stencil_tune_stencil* stencil_ = nullptr;
};

TEST_F(CStencilTest, AnExpressionIsUnderstood) {
  ASSERT_EQ(stencil_tune_stencil_parse("u_next = u + alpha*laplacian(u) + s; alpha = 0.25", 2, &stencil_),
            STENCIL_TUNE_OK)
      << message();
  EXPECT_EQ(stencil_tune_stencil_rank(stencil_), 2);
  EXPECT_EQ(stencil_tune_stencil_stage_count(stencil_), 1);
  ASSERT_EQ(stencil_tune_stencil_field_count(stencil_), 3);
  std::string fields;
  for (int i = 0; i < 3; ++i) fields += std::string(" ") + stencil_tune_stencil_field_name(stencil_, i);
  EXPECT_EQ(fields, " u s u_next") << "what is read, then what is written";
  EXPECT_NE(fields.find(" s"), std::string::npos) << fields;
  ASSERT_EQ(stencil_tune_stencil_coefficient_count(stencil_), 1);
  EXPECT_STREQ(stencil_tune_stencil_coefficient_name(stencil_, 0), "alpha");
  EXPECT_EQ(stencil_tune_stencil_coefficient_value(stencil_, 0), 0.25);
  EXPECT_EQ(stencil_tune_stencil_type(stencil_), nullptr);
  EXPECT_EQ(std::string(stencil_tune_stencil_key(stencil_)).size(), 32U);
  EXPECT_NE(std::string(stencil_tune_stencil_text(stencil_)), "");
}

TEST_F(CStencilTest, FieldsHaveRoles) {
  const char* wave =
      "rank = 1\nfields = [\"p\", \"p_prev\", \"v\", \"p_next\"]\n[update]\n"
      "p_next = \"2*p - p_prev + v*(p[x-1] + p[x+1])\"\n[rotate]\np_next = \"p\"\np = \"p_prev\"\n";
  ASSERT_EQ(stencil_tune_stencil_define(wave, "wave", &stencil_), STENCIL_TUNE_OK) << message();
  std::string roles;
  for (int field = 0; field < 4; ++field) {
    roles += std::to_string(stencil_tune_stencil_field_is_input(stencil_, field)) +
             std::to_string(stencil_tune_stencil_field_is_output(stencil_, field)) +
             std::to_string(stencil_tune_stencil_field_next(stencil_, field)) + " ";
  }
  EXPECT_EQ(roles, "103 100 102 011 ") << "p_next takes the buffer of p_prev";
  EXPECT_EQ(stencil_tune_stencil_field_next(stencil_, 4), -1);
}

TEST_F(CStencilTest, ALevelThatIsReadOnceItIsOlderIsAnInput) {
  const char* skipping =
      "rank = 1\nfields = [\"p\", \"p1\", \"p2\", \"p_next\"]\n[update]\np_next = \"p[x-1] - p2\"\n"
      "[rotate]\np_next = \"p\"\np = \"p1\"\np1 = \"p2\"\n";
  ASSERT_EQ(stencil_tune_stencil_define(skipping, "skipping", &stencil_), STENCIL_TUNE_OK) << message();
  EXPECT_EQ(stencil_tune_stencil_field_is_input(stencil_, 1), 1);
  EXPECT_EQ(stencil_tune_stencil_field_is_input(stencil_, 3), 0);
}

TEST_F(CStencilTest, AFieldBetweenStagesIsNoInput) {
  const char* two =
      "rank = 1\nfields = [\"a\", \"b\"]\n[[stage]]\nb = \"a[x-1] + a[x+1]\"\n[[stage]]\na = \"b[x+1]\"\n";
  ASSERT_EQ(stencil_tune_stencil_define(two, "two", &stencil_), STENCIL_TUNE_OK) << message();
  EXPECT_EQ(stencil_tune_stencil_field_is_input(stencil_, 0), 1);
  EXPECT_EQ(stencil_tune_stencil_field_is_output(stencil_, 0), 1);
  EXPECT_EQ(stencil_tune_stencil_field_is_input(stencil_, 1), 0);
  EXPECT_EQ(stencil_tune_stencil_field_is_output(stencil_, 1), 1);
}

TEST_F(CStencilTest, SaysWhichFieldsVaryAlongSomeAxesAlone) {
  ASSERT_EQ(
      stencil_tune_stencil_parse("u_next = u[x-1] + h[x+1]*u[z+1]*dz[z+1] + w; h(x,z); w(t); dz(z)", 3, &stencil_),
      STENCIL_TUNE_OK)
      << message();
  std::string axes;
  for (int field = 0; field < stencil_tune_stencil_field_count(stencil_); ++field) {
    axes += std::string(stencil_tune_stencil_field_name(stencil_, field)) + " " +
            std::to_string(stencil_tune_stencil_field_along(stencil_, field)) +
            std::to_string(stencil_tune_stencil_field_is_input(stencil_, field)) + " ";
  }
  EXPECT_EQ(axes, "h 51 w 81 dz 41 u 01 u_next 00 ");
}

TEST_F(CStencilTest, SaysTheArraysThatARequestTakes) {
  stencil_tune_stencil* bare = nullptr;
  ASSERT_EQ(stencil_tune_stencil_parse("u_next = u + h*m[x-1] + w; m(x in layer); h(y); w(t)", 2, &bare),
            STENCIL_TUNE_OK)
      << message();
  ASSERT_EQ(stencil_tune_stencil_with_layers(bare, "x=20:10", &stencil_), STENCIL_TUNE_OK) << message();
  stencil_tune_stencil_release(bare);
  stencil_tune_request request = STENCIL_TUNE_REQUEST_INIT;
  request.parsed = stencil_;
  request.extents[0] = 400;
  request.extents[1] = 30;
  request.pitch = 416;
  std::int64_t extents[3], strides[3];
  const auto array = [&](const char* name) {
    int field = 0;
    while (std::string(stencil_tune_stencil_field_name(stencil_, field)) != name) ++field;
    EXPECT_EQ(stencil_tune_field_array(&request, field, extents, strides), STENCIL_TUNE_OK) << message();
    return std::vector<std::int64_t>{extents[0], extents[1], strides[0], strides[1], strides[2]};
  };
  EXPECT_EQ(array("m"), (std::vector<std::int64_t>{400, 30, 1, 416, 416 * 30}));
  request.slabs = 1;
  EXPECT_EQ(array("m"), (std::vector<std::int64_t>{32, 30, 1, 48, 48 * 30})) << "368 of 370 cells are left out";
  EXPECT_EQ(array("u"), (std::vector<std::int64_t>{400, 30, 1, 416, 416 * 30}));
  EXPECT_EQ(array("h"), (std::vector<std::int64_t>{1, 30, 1, 1, 30}));
  for (const int field : {-1, stencil_tune_stencil_field_count(stencil_)}) {
    EXPECT_EQ(stencil_tune_field_array(&request, field, extents, strides), STENCIL_TUNE_INVALID_ARGUMENT);
  }
  EXPECT_EQ(stencil_tune_field_array(nullptr, 0, extents, strides), STENCIL_TUNE_INVALID_ARGUMENT);
}

TEST_F(CStencilTest, HasLayersOfTheWidthsThatAreGiven) {
  ASSERT_EQ(stencil_tune_stencil_parse("u_next = u + m[x-1]; m(y in layer)", 2, &stencil_), STENCIL_TUNE_OK)
      << message();
  EXPECT_EQ(stencil_tune_stencil_field_layer_axis(stencil_, 0), 1);
  EXPECT_EQ(stencil_tune_stencil_field_layer_axis(stencil_, 1), -1);
  stencil_tune_stencil* with = nullptr;
  std::int64_t low[3] = {9, 9, 9};
  std::int64_t high[3] = {9, 9, 9};
  EXPECT_EQ(stencil_tune_stencil_layer_widths(stencil_, low, high), 0);
  ASSERT_EQ(stencil_tune_stencil_with_layers(stencil_, "y=20:0", &with), STENCIL_TUNE_OK) << message();
  EXPECT_EQ(stencil_tune_stencil_layer_widths(with, low, high), 1);
  EXPECT_EQ(std::vector<std::int64_t>(low, low + 3), (std::vector<std::int64_t>{0, 20, 0}));
  EXPECT_EQ(std::vector<std::int64_t>(high, high + 3), (std::vector<std::int64_t>{0, 0, 0}));
  EXPECT_STREQ(stencil_tune_stencil_key(with), stencil_tune_stencil_key(stencil_));
  char* text = nullptr;
  ASSERT_EQ(stencil_tune_stencil_definition(with, &text), STENCIL_TUNE_OK) << message();
  EXPECT_NE(std::string(text).find("layer = \"x=0,y=20:0\""), std::string::npos) << text;
  stencil_tune_free_text(text);
  stencil_tune_stencil_release(with);
  EXPECT_EQ(stencil_tune_stencil_with_layers(stencil_, "z=20", &with), STENCIL_TUNE_UNKNOWN_NAME);
  EXPECT_EQ(with, nullptr);
  EXPECT_EQ(stencil_tune_stencil_with_layers(stencil_, nullptr, &with), STENCIL_TUNE_INVALID_ARGUMENT);
}

TEST_F(CStencilTest, SaysHowFarItReads) {
  ASSERT_EQ(stencil_tune_stencil_parse("v = u[x-2] + u[x+1] - w[y+3]", 2, &stencil_), STENCIL_TUNE_OK) << message();
  std::int32_t low[3] = {9, 9, 9};
  std::int32_t high[3] = {9, 9, 9};
  ASSERT_EQ(stencil_tune_stencil_reach(stencil_, low, high), STENCIL_TUNE_OK) << message();
  EXPECT_EQ(std::vector<int>(low, low + 3), (std::vector<int>{-2, 0, 0}));
  EXPECT_EQ(std::vector<int>(high, high + 3), (std::vector<int>{1, 3, 0}));
}

TEST_F(CStencilTest, SaysWhetherItIsPlaced) {
  std::int32_t low[3] = {9, 9, 9};
  std::int32_t high[3] = {9, 9, 9};
  ASSERT_EQ(stencil_tune_stencil_parse("v = u[x-2] + dz[z+1]*u - dz[z-2]; dz(z)", 3, &stencil_), STENCIL_TUNE_OK);
  EXPECT_EQ(stencil_tune_stencil_is_placed(stencil_, low, high), 1);
  EXPECT_EQ(std::vector<int>(low, low + 3), (std::vector<int>{0, 0, -2}));
  EXPECT_EQ(std::vector<int>(high, high + 3), (std::vector<int>{0, 0, 1}));
  stencil_tune_stencil_release(stencil_);
  ASSERT_EQ(stencil_tune_stencil_load("heat2d", &stencil_), STENCIL_TUNE_OK) << message();
  EXPECT_EQ(stencil_tune_stencil_is_placed(stencil_, low, high), 0);
}

TEST_F(CStencilTest, HasDerivatives) {
  ASSERT_EQ(stencil_tune_stencil_load("heat2d", &stencil_), STENCIL_TUNE_OK) << message();
  stencil_tune_stencil* derivative = nullptr;
  ASSERT_EQ(stencil_tune_stencil_adjoint(stencil_, &derivative), STENCIL_TUNE_OK) << message();
  EXPECT_STREQ(stencil_tune_stencil_field_name(derivative, 1), "grad_u");
  stencil_tune_stencil_release(derivative);
  ASSERT_EQ(stencil_tune_stencil_coefficient_adjoint(stencil_, &derivative), STENCIL_TUNE_OK) << message();
  EXPECT_STREQ(stencil_tune_stencil_field_name(derivative, 2), "grad_alpha");
  stencil_tune_stencil_release(derivative);
  ASSERT_EQ(stencil_tune_stencil_adjoint_step(stencil_, "alpha", 3, &derivative), STENCIL_TUNE_OK) << message();
  EXPECT_EQ(stencil_tune_stencil_field_count(derivative), 5) << "u, and before and after the gradients of u and alpha";
  stencil_tune_stencil_release(derivative);
  EXPECT_EQ(stencil_tune_stencil_adjoint_step(stencil_, "u", 0, &derivative), STENCIL_TUNE_INVALID_ARGUMENT);
  EXPECT_EQ(derivative, nullptr);
  ASSERT_EQ(stencil_tune_stencil_field_count(stencil_), 2);
  EXPECT_EQ(stencil_tune_stencil_field_is_pointwise(stencil_, 0), 0) << "u is read beside the cell";
  EXPECT_EQ(stencil_tune_stencil_field_is_pointwise(stencil_, 1), 1) << "u_next is not read";
  EXPECT_EQ(stencil_tune_stencil_field_is_pointwise(stencil_, 2), 0) << "there is none";
}

TEST_F(CStencilTest, IsTakenBackWhereNothingIsLost) {
  stencil_tune_stencil* reversed = nullptr;
  ASSERT_EQ(stencil_tune_stencil_load("acoustic3d_o4", &stencil_), STENCIL_TUNE_OK) << message();
  ASSERT_EQ(stencil_tune_stencil_reversed(stencil_, &reversed), STENCIL_TUNE_OK) << message();
  EXPECT_STREQ(stencil_tune_stencil_field_name(reversed, 3), "before_p_prev");
  EXPECT_EQ(stencil_tune_stencil_field_next(reversed, 0), 1) << "p_prev becomes p";
  stencil_tune_stencil_release(reversed);
  stencil_tune_stencil_release(stencil_);
  ASSERT_EQ(stencil_tune_stencil_load("heat2d", &stencil_), STENCIL_TUNE_OK) << message();
  EXPECT_EQ(stencil_tune_stencil_reversed(stencil_, &reversed), STENCIL_TUNE_INVALID_ARGUMENT);
  EXPECT_EQ(reversed, nullptr);
}

TEST_F(CStencilTest, HasTangentsAndStages) {
  ASSERT_EQ(stencil_tune_stencil_load("heat2d", &stencil_), STENCIL_TUNE_OK) << message();
  EXPECT_EQ(stencil_tune_stencil_is_linear(stencil_), 1);
  stencil_tune_stencil* other = nullptr;
  ASSERT_EQ(stencil_tune_stencil_tangent(stencil_, 0, &other), STENCIL_TUNE_OK) << message();
  EXPECT_EQ(stencil_tune_stencil_field_count(other), 4);
  stencil_tune_stencil_release(other);
  EXPECT_EQ(stencil_tune_stencil_tangent(stencil_, 7, &other), STENCIL_TUNE_INVALID_ARGUMENT);
  EXPECT_EQ(other, nullptr);
  ASSERT_EQ(stencil_tune_stencil_stage(stencil_, 0, &other), STENCIL_TUNE_OK) << message();
  EXPECT_EQ(stencil_tune_stencil_field_next(other, 0), 0) << "a stage has no next step";
  stencil_tune_stencil_release(other);
  EXPECT_EQ(stencil_tune_stencil_stage(stencil_, 1, &other), STENCIL_TUNE_INVALID_ARGUMENT);
  ASSERT_EQ(stencil_tune_stencil_parse("v = u*u[x-1]", 1, &other), STENCIL_TUNE_OK) << message();
  EXPECT_EQ(stencil_tune_stencil_is_linear(other), 0);
  stencil_tune_stencil_release(other);
}

TEST_F(CStencilTest, IsDescribedAndWrittenOut) {
  ASSERT_EQ(stencil_tune_stencil_load("heat2d", &stencil_), STENCIL_TUNE_OK) << message();
  char* text = nullptr;
  ASSERT_EQ(stencil_tune_stencil_describe(stencil_, &text), STENCIL_TUNE_OK) << message();
  EXPECT_NE(std::string(text).find("o O o"), std::string::npos) << text;
  stencil_tune_free_text(text);
  ASSERT_EQ(stencil_tune_stencil_definition(stencil_, &text), STENCIL_TUNE_OK) << message();
  stencil_tune_stencil* again = nullptr;
  ASSERT_EQ(stencil_tune_stencil_define(text, "again", &again), STENCIL_TUNE_OK) << message() << text;
  EXPECT_STREQ(stencil_tune_stencil_key(again), stencil_tune_stencil_key(stencil_));
  stencil_tune_stencil_release(again);
  stencil_tune_free_text(text);
}

TEST_F(CStencilTest, AnIndexBeyondTheLastHasNoName) {
  ASSERT_EQ(stencil_tune_stencil_load("heat3d", &stencil_), STENCIL_TUNE_OK) << message();
  EXPECT_STREQ(stencil_tune_stencil_name(stencil_), "heat3d");
  EXPECT_EQ(stencil_tune_stencil_field_name(stencil_, 2), nullptr);
  EXPECT_EQ(stencil_tune_stencil_field_name(stencil_, -1), nullptr);
  EXPECT_EQ(stencil_tune_stencil_coefficient_name(stencil_, 100), nullptr);
  EXPECT_EQ(stencil_tune_stencil_coefficient_value(stencil_, 100), 0);
}

TEST_F(CStencilTest, ADefinitionIsTakenAsText) {
  const char* text = "rank = 1\nelement = \"f64\"\nfields = [\"u\", \"v\"]\n[update]\nv = \"u[x+1]\"\n";
  ASSERT_EQ(stencil_tune_stencil_define(text, "shift", &stencil_), STENCIL_TUNE_OK) << message();
  EXPECT_STREQ(stencil_tune_stencil_type(stencil_), "f64");
  EXPECT_STREQ(stencil_tune_stencil_field_name(stencil_, 1), "v");
}

TEST_F(CStencilTest, WhatDoesNotParseSaysWhere) {
  EXPECT_EQ(stencil_tune_stencil_define("rank = 9", "nine.toml", &stencil_), STENCIL_TUNE_MALFORMED_DEFINITION);
  EXPECT_NE(message().find("nine.toml"), std::string::npos) << message();
  EXPECT_EQ(stencil_tune_stencil_parse("u +", 3, &stencil_), STENCIL_TUNE_MALFORMED_DEFINITION);
  EXPECT_EQ(stencil_tune_stencil_parse("u[x+1]", 0, &stencil_), STENCIL_TUNE_INVALID_ARGUMENT);
  EXPECT_EQ(stencil_tune_stencil_parse(nullptr, 3, &stencil_), STENCIL_TUNE_INVALID_ARGUMENT);
  EXPECT_EQ(stencil_tune_stencil_load("heat3d", nullptr), STENCIL_TUNE_INVALID_ARGUMENT);
  EXPECT_EQ(stencil_, nullptr);
}

TEST_F(CStencilTest, EachThreadHasItsOwnMessage) {
  EXPECT_EQ(stencil_tune_stencil_load("heat5d", &stencil_), STENCIL_TUNE_UNKNOWN_NAME);
  std::thread([] {
    EXPECT_EQ(message(), "");
    stencil_tune_stencil* other = nullptr;
    EXPECT_EQ(stencil_tune_stencil_load("heat6d", &other), STENCIL_TUNE_UNKNOWN_NAME);
    EXPECT_NE(message().find("heat6d"), std::string::npos);
  }).join();
  EXPECT_NE(message().find("heat5d"), std::string::npos);
}

}  // namespace
