#include "generator/kernel_source/signature.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <string>
#include <vector>

namespace stencil_tune {
namespace {

constexpr const char* kDirect = "stencil_tune/direct.cuh";
constexpr const char* kTemporal = "stencil_tune/temporal/temporal.cuh";
constexpr const char* kTemporalSums = "stencil_tune/temporal/temporal_sums.cuh";
constexpr const char* kStreaming = "stencil_tune/streaming/streaming.cuh";

/// The templates that ship, with one text in one of them replaced.
class Changed {
 public:
  Changed(std::string_view file, std::string_view from, std::string_view to) {
    for (const TemplateFile& each : template_files()) {
      std::string& text = texts_.emplace_back(each.text);
      files_.push_back(each);
      if (each.name != file) continue;
      const std::size_t at = text.find(from);
      EXPECT_NE(at, std::string::npos) << from;
      if (at != std::string::npos) text.replace(at, from.size(), to);
      files_.back().text = text;
    }
  }

  /// Whether the change makes candidates of the template stale.
  bool moves(std::string_view file) const {
    return template_signature(file, files_) != template_signature(file, template_files());
  }

 private:
  std::list<std::string> texts_;
  std::vector<TemplateFile> files_;
};

TEST(TemplateSignature, CommentsAndBlankSpaceDoNotCount) {
  const Changed comment(kDirect, "#pragma once", "#pragma once  // said anew\n/* and\nagain */\n");
  EXPECT_FALSE(comment.moves(kDirect));
  const Changed blanks(kDirect, "namespace stencil_tune {", "namespace   stencil_tune\n{\n\n");
  EXPECT_FALSE(blanks.moves(kDirect));
}

TEST(TemplateSignature, AChangeOfATokenMovesTheTemplatesThatIncludeItAlone) {
  const Changed walk("stencil_tune/temporal/temporal_walk.cuh", "namespace stencil_tune {",
                     "namespace stencil_tune {\ninline constexpr int kAdded = 1;");
  EXPECT_TRUE(walk.moves(kTemporal));
  EXPECT_TRUE(walk.moves(kTemporalSums));
  EXPECT_FALSE(walk.moves(kDirect));
  EXPECT_FALSE(walk.moves(kStreaming));
  const Changed sums(kTemporalSums, "namespace stencil_tune {", "namespace stencil_tune {\nstruct Added;");
  EXPECT_TRUE(sums.moves(kTemporalSums));
  EXPECT_FALSE(sums.moves(kTemporal));
}

TEST(TemplateSignature, AChangeToWhatAllIncludeMovesAll) {
  const Changed device("stencil_tune/device.cuh", "STENCIL_UNROLL _Pragma(\"unroll\")", "STENCIL_UNROLL");
  for (const char* file : {kDirect, kTemporal, kTemporalSums, kStreaming}) EXPECT_TRUE(device.moves(file)) << file;
}

TEST(TemplateSignature, NamesOfFilesDoNotCount) {
  const std::string inner = "inline int one() { return 1; }\n";
  const std::vector<TemplateFile> flat{{"stencil_tune/a.cuh", "#include \"stencil_tune/b.cuh\"\nint a();\n"},
                                       {"stencil_tune/b.cuh", inner}};
  const std::vector<TemplateFile> rooms{{"stencil_tune/room/a.cuh", "#include \"stencil_tune/room/b.cuh\"\nint a();\n"},
                                        {"stencil_tune/room/b.cuh", inner}};
  EXPECT_EQ(template_signature("stencil_tune/a.cuh", flat), template_signature("stencil_tune/room/a.cuh", rooms));
}

TEST(TemplateSignature, CandidatesOfATemplateShareIt) {
  const auto of = [](const char* code) { return template_signature(parse_code(code)); };
  EXPECT_EQ(of("direct.bx32.by4"), of("direct.bx64.by8.rx4"));
  EXPECT_EQ(of("direct.bx32.by4"), template_signature(kDirect, template_files()));
  EXPECT_NE(of("direct.bx32.by4"), of("temporal.bx32.by4.t2"));
  EXPECT_NE(of("temporal.bx32.by4.t2"), of("temporal.bx32.by4.t2.sums"));
}

TEST(TemplateSignature, OfASourceFollowsItsIncludes) {
  const KernelSource direct{.text = "#include \"stencil_tune/direct.cuh\"\nint x;\n", .entry = "k"};
  const KernelSource temporal{.text = "#include \"stencil_tune/temporal/temporal.cuh\"\nint x;\n", .entry = "k"};
  const KernelSource none{.text = "int x;\n", .entry = "k"};
  EXPECT_EQ(template_signature(direct), template_signature(parse_code("direct.bx32")));
  EXPECT_NE(template_signature(direct), template_signature(temporal));
  EXPECT_EQ(template_signature(none), "");
  const KernelSource others{.text = "#include \"elsewhere/check.cu\"\n", .entry = "k"};
  EXPECT_EQ(template_signature(others), "");
}

TEST(StripComments, TakesCommentsOutAndKeepsTokensApart) {
  EXPECT_EQ(strip_comments("int  a ;  // one\n/* two\n three */ int\tb;\n"), "int a;int b;");
  EXPECT_EQ(strip_comments("return/**/x;"), "return x;");
  EXPECT_EQ(strip_comments("a - -b"), "a- -b") << "two signs must not become one token";
  EXPECT_EQ(strip_comments("a / b"), "a/b") << "a division is no comment";
}

TEST(StripComments, LiteralsStayAsTheyAre) {
  EXPECT_EQ(strip_comments(R"(f("a // b  c", "/*", '"', '\'', "\"//"); // end)"),
            R"(f("a // b  c", "/*", '"', '\'', "\"//");)");
  EXPECT_EQ(strip_comments("x = R\"(a \" // b\n\n c)\"; // end"), "x=R\"(a \" // b\n\n c)\";");
  EXPECT_EQ(strip_comments("R\"m()\" // )m\" /* end */"), "R\"m()\" // )m\"");
  EXPECT_EQ(strip_comments("1'000 * 2 // it's"), "1'000*2");
}

TEST(StripComments, DirectivesKeepTheirLines) {
  EXPECT_EQ(strip_comments("int a;\n  #define F (x)  // one\n#define G \\\n  1\nint b;"),
            "int a;\n#define F (x)\n#define G 1\nint b;");
  EXPECT_NE(strip_comments("#define F (x)\n"), strip_comments("#define F(x)\n"));
}

}  // namespace
}  // namespace stencil_tune
