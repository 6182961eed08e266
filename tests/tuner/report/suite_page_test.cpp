#include "tuner/report/suite_page.hpp"

#include "stencil_tune/error.hpp"
#include "tests/runtime/temporary_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

namespace stencil_tune {
namespace {

using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::ordered_json;

Json kernel(const std::string& name, double rate) {
  return {{"kernel", name}, {"code", "direct.bx32"}, {"gstencils", rate}, {"share_of_copy", rate / 500}};
}

Json record() {
  Json item{{"stencil", "star3d1r"},
            {"type", "f32"},
            {"dims", "512x512x512"},
            {"steps", 1},
            {"boundary", "hold"},
            {"device", {{"name", "NVIDIA H200"}, {"driver", "13.0"}}},
            {"copy_ceiling_gstencils", 500.0},
            {"kernels", {kernel("winner", 450), kernel("naive", 225)}},
            {"notes", {"a note"}}};
  Json run = item;
  run["stencil"] = "<script>";
  run["steps"] = 100;
  run["boundary"] = "periodic";
  run["kernels"] = {kernel("winner", 1000), {{"kernel", "pmpp-tiled"}, {"not_available", "no tile"}}};
  run["case"] = 17;
  return {{"date", "2026-11-23"}, {"version", "0.1.0"}, {"commit", "abc"}, {"cases", {item, run}}};
}

TEST(SuitePage, ShowsEachProblemBesideThePlainCopyAndTheNaiveKernel) {
  const std::string page = suite_page(record());
  for (const char* part :
       {"2 problems on NVIDIA H200, driver 13.0", "1. star3d1r, f32, 512x512x512<", "90.0&#160;%", "2.00&#160;x",
        "17. &lt;script&gt;, f32, 512x512x512, 100 steps, periodic", "200.0&#160;%", "no tile", "a note"}) {
    EXPECT_THAT(page, HasSubstr(part));
  }
  EXPECT_THAT(page, Not(HasSubstr("<script")));
}

TEST(SuitePage, BarsAreAsLongAsTheSharesOfTheCopy) {
  const std::string page = suite_page(record());
  // The longest, 200 % of the copy, reaches to 340 units.
  EXPECT_THAT(page, HasSubstr("class=\"bar\" x=\"0\" y=\"39.0\" width=\"340.0\""));
  EXPECT_THAT(page, HasSubstr("class=\"bar\" x=\"0\" y=\"13.0\" width=\"153.0\""));
  EXPECT_THAT(page, HasSubstr("class=\"other\" x=\"0\" y=\"15.5\" width=\"76.5\""));
}

TEST(SuitePage, IsWellFormed) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "page.html";
  std::ofstream(file) << suite_page(record());
  const std::string command = "python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' " + file.string();
  EXPECT_EQ(std::system(command.c_str()), 0);
}

TEST(SuitePage, WhatIsNoRecordIsRefused) {
  for (const char* text : {"{}", "[]", "{\"cases\": []}", "{\"cases\": [{\"stencil\": 3}]}", "{\"cases\": [7]}"}) {
    EXPECT_THROW(suite_page(Json::parse(text)), Error) << text;
  }
}

}  // namespace
}  // namespace stencil_tune
