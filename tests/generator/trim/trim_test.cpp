#include "generator/trim/trim.hpp"

#include "stencil_tune/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace stencil_tune {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// A template file `text` inside the project's namespace, as the source that includes it gets it.
std::string written(const std::string& text, const std::string& source, std::string_view also_using = {}) {
  const std::string file =
      "// What it is for.\n#pragma once\n\nnamespace stencil_tune {\n\n" + text + "\n}  // namespace stencil_tune\n";
  const std::vector<TemplateFile> files{{"stencil_tune/part.cuh", file}};
  return write_out("#include \"stencil_tune/part.cuh\"\n" + source, files, also_using).text();
}

constexpr const char* kTuning =
    "namespace k { struct Stencil { static constexpr int kLowZ = 1; };\n"
    "struct Tuning { static constexpr int kCluster = 1, kVector = 4; static constexpr Order kOrder = Order::natural; "
    "}; }\n";

/// The same for a function body; the source calls the function.
std::string body(const std::string& statements) {
  return written("enum class Order { natural, z_first, raster };\ntemplate <class S, class T, int kN>\nint f() {\n" +
                     statements + "}\n",
                 std::string(kTuning) + "int g() { return f<k::Stencil, k::Tuning, 3>(); }\n");
}

TEST(Trim, KeepsWhatTheSourceUsesBySomeWay) {
  const std::string text =
      written("int c() { return 1; }\nint b() { return c(); }\nint a() { return b(); }\n", "int x = b();\n");
  EXPECT_THAT(text, HasSubstr("int c()"));
  EXPECT_THAT(text, HasSubstr("int b()"));
  EXPECT_THAT(text, Not(HasSubstr("int a()")));
}

TEST(Trim, KeepsWhatTheCallerUses) {
  const std::string text = "int a() { return 1; }\nint b() { return 2; }\n";
  EXPECT_THAT(written(text, "int x = a();\n", "y = b();"), HasSubstr("int b()"));
  EXPECT_THAT(written(text, "int x = a();\n"), Not(HasSubstr("int b()")));
}

TEST(Trim, NamesInCommentsAndLiteralsAreNoUses) {
  const std::string text = written("int a();\nint b();\n", "int x = a();  // not b\nconst char* y = \"b\";\n");
  EXPECT_THAT(text, Not(HasSubstr("int b()")));
}

TEST(Trim, MembersGoOneByOneButDataAndOperatorsStay) {
  const std::string text = written(
      "struct A {\n  static constexpr int kUsed = 1;\n  static constexpr int kUnused = 2;\n  int data, more;\n"
      "  explicit A(int n) : data{n}, more(n) {}\n  int used() const { return kUsed; }\n"
      "  int unused() const { return kUnused; }\n  A operator+(int n) const { return A{data + n}; }\n};\n",
      "int x = A(1).used();\n");
  for (const char* kept : {"kUsed = 1", "int data, more;", "explicit A(int n) : data{n}, more(n) {}", "used() const",
                           "A operator+(int n) const { return A{data + n}; }"}) {
    EXPECT_THAT(text, HasSubstr(kept));
  }
  EXPECT_THAT(text, Not(HasSubstr("kUnused")));
  EXPECT_THAT(text, Not(HasSubstr("unused")));
}

TEST(Trim, WhatAConditionChoosesStandsInPlaceOfTheChoice) {
  const std::string types =
      "template <bool, class A, class B>\nstruct Chosen;\n"
      "template <bool kTakesA, class A, class B>\nusing Choose = typename Chosen<kTakesA, A, B>::Type;\n"
      "template <class S, int kN>\nstruct ByLanes {};\nstruct ByTma {};\nstruct ByBoth {};\n"
      "template <class S, class T>\nusing Copies = Choose<T::kTma != 0, Choose<(T::kTma > 1), ByBoth, ByTma>, "
      "ByLanes<S, "
      "1>>;\ntemplate <class S, class T>\nint f() { return sizeof(Copies<S, T>) + Choose<T::kTma == 0, ByTma, A>(1); "
      "}\n";
  const auto with = [&](const char* tma) {
    return written(types, std::string("struct Stencil {};\nstruct Tuning { static constexpr int kTma = ") + tma +
                              "; };\nint x = f<Stencil, Tuning>();\n");
  };
  EXPECT_THAT(with("0"), HasSubstr("using Copies = ByLanes<S, 1>;"));
  EXPECT_THAT(with("0"), HasSubstr("+ ByTma(1);"));
  EXPECT_THAT(with("0"), Not(HasSubstr("ByBoth")));
  EXPECT_THAT(with("0"), Not(HasSubstr("Choose"))) << "what was chosen stands where the choice was";
  EXPECT_THAT(with("1"), HasSubstr("using Copies = ByTma;"));
  EXPECT_THAT(with("1"), Not(HasSubstr("ByLanes")));
  EXPECT_THAT(with("2"), HasSubstr("using Copies = ByBoth;"));
  EXPECT_THAT(with("unknown()"), HasSubstr("using Copies = Choose<T::kTma != 0, Choose<(T::kTma > 1), ByBoth, ByTma>"));
  EXPECT_THAT(with("unknown()"), HasSubstr("struct Chosen;"));
}

TEST(Trim, OnlyTheBranchThatIsTakenStays) {
  EXPECT_THAT(body("  if constexpr (T::kCluster > 1) {\n    a();\n  } else {\n    b();\n    c();\n  }\n  d();\n"),
              HasSubstr("int f() {\n  b();\n  c();\n  d();\n}"));
  EXPECT_THAT(body("  b();  // stays\n  // Why.\n  if constexpr (T::kCluster > 1) a();  // and how\n  d();\n"),
              HasSubstr("int f() {\n  b();  // stays\n  d();\n}"));
  EXPECT_THAT(body("  if constexpr (T::kVector == 4 && S::kLowZ == 1) a();\n"), HasSubstr("int f() { a(); }"));
  EXPECT_THAT(body("  if constexpr (T::kOrder != Order::natural) a();\n  b();\n"), HasSubstr("int f() { b(); }"));
}

TEST(Trim, ConstantsOfASystemAreThoseOfItsStep) {
  const std::string text = written(
      "template <class Step> struct SystemOf : Step {};\ntemplate <class S>\nint f() {\n"
      "  if constexpr (S::kMakesParts) a();\n  if constexpr (S::kLevels > 1) b();\n  return 1;\n}\n",
      "namespace k { struct Step { static constexpr bool kMakesParts = false; static constexpr int kLevels = 2; };\n"
      "using Stencil = stencil_tune::SystemOf<Step>; }\nint g() { return f<k::Stencil>(); }\n");
  EXPECT_THAT(text, HasSubstr("b();\n"));
  EXPECT_THAT(text, Not(HasSubstr("a();")));
  EXPECT_THAT(text, Not(HasSubstr("if constexpr")));
}

TEST(Trim, WhatFollowsAReturnGoes) {
  EXPECT_THAT(body("  if constexpr (T::kVector == 4) return 1;\n  return 2;\n"), HasSubstr("int f() { return 1; }"));
  EXPECT_THAT(body("  for (;;) {\n    if constexpr (T::kVector == 4) return 1;\n    b();\n  }\n  return 2;\n"),
              HasSubstr("for (;;) { return 1; }\n  return 2;\n"));
}

TEST(Trim, BranchesOfOtherStatementsKeepTheirBraces) {
  EXPECT_THAT(body("  for (;;) if constexpr (T::kVector == 4) { a(); b(); }\n"), HasSubstr("for (;;) { a(); b(); }\n"));
  EXPECT_THAT(body("  for (;;) if constexpr (T::kVector == 1) a();\n  b();\n"), HasSubstr("for (;;) {}\n  b();"));
  EXPECT_THAT(
      body("  if (n) {\n    a();\n  } else if constexpr (T::kVector == 1) {\n    b();\n  } else {\n    c();\n  }\n"),
      HasSubstr("if (n) {\n    a();\n  } else {\n    c();\n  }\n"));
}

TEST(Trim, WhatItCannotDecideStays) {
  for (const char* condition : {"kN == 3", "T::kUnheard > 1", "sizeof(S) == 4", "T::kVector << 1 == 8",
                                "T::kVector / 0 == 1", "g(T::kVector)", "kN == 3 && kN < T::kVector", "(T::kVector"}) {
    const std::string statement = std::string("if constexpr (") + condition + ") a();";
    EXPECT_THAT(body("  " + statement + "\n"), HasSubstr(statement)) << condition;
  }
  EXPECT_THAT(body("  if constexpr (kN == 3 && T::kVector == 1) a();\n"), Not(HasSubstr("a()"))) << "whatever kN is";
}

TEST(Trim, HeadsOfTemplatesAndUnrolledLoopsShareALineWithWhatTheyIntroduceWhereThereIsRoom) {
  const std::string source = "int x = A<1>().f<2>();\n";
  EXPECT_THAT(
      written("template <int kN>\nstruct A {\n  template <int kM>\n  int f() {\n    a();\n    b();\n  }\n};\n", source),
      HasSubstr("template <int kN> struct A {\n  template <int kM> int f() {\n    a();\n"));
  const std::string longer = "template <int kN>\nstruct A : " + std::string(100, 'b') + " {\n  int f();\n};\n";
  EXPECT_THAT(written(longer, source), HasSubstr("template <int kN>\nstruct A"));
  EXPECT_THAT(body("  STENCIL_UNROLL\n  for (;;) a();\n"), HasSubstr("{ STENCIL_UNROLL for (;;) a(); }\n"));
}

TEST(Trim, ParametersOfATemplateHideConstants) {
  const std::string text = written(
      "constexpr int kDeep = 4;\nstruct A {\n  static constexpr int kWide = 1;\n  template <int kWide, int kDeep>\n"
      "  int f() {\n    if constexpr (kWide == 1) a();\n    if constexpr (kDeep == 4) b();\n    return 1;\n  }\n"
      "  int g() {\n    if constexpr (kWide == 2) c();\n    return f<1, 1>();\n  }\n};\n",
      "int x = A().g();\n");
  EXPECT_THAT(text, HasSubstr("if constexpr (kWide == 1) a();"));
  EXPECT_THAT(text, HasSubstr("if constexpr (kDeep == 4) b();"));
  EXPECT_THAT(text, Not(HasSubstr("c()")));
}

TEST(Trim, ConstantsOfATypeThatAnotherNamesDecide) {
  const std::string text = written(
      "template <class S, class T>\nstruct Shape {\n  static constexpr int kWarps = T::kVector / 4;\n};\n"
      "template <class S, class T>\nstruct A {\n  using Of = Shape<S, T>;\n  int f() {\n"
      "    if constexpr (Of::kWarps > 1) a();\n    if constexpr (Of::kWarps == 1) b();\n    return 1;\n  }\n};\n",
      std::string(kTuning) + "int x = A<k::Stencil, k::Tuning>().f();\n");
  EXPECT_THAT(text, HasSubstr("int f() {\n    b();\n    return 1;\n  }"));
}

TEST(Trim, ConstantsThatNothingUsesAnyMoreGoAndValuesStay) {
  EXPECT_THAT(
      body("  constexpr int kAxis = 1, kNext = kAxis + 1;\n  constexpr int kBoth = kAxis + kNext;\n"
           "  using Row = Rows<1>;\n  const int more = n * kAxis;\n  const int rank = ask();\n"
           "  const int zeros[2] = {};\n  if constexpr (T::kCluster > 1) a(kBoth, rank, more, Row());\n  return 1;\n"),
      HasSubstr("int f() {\n  constexpr int kAxis = 1, kNext = kAxis + 1;\n"
                "  [[maybe_unused]] const int rank = ask();\n"
                "  const int zeros[2] = {};\n  return 1;\n}"));
}

TEST(Trim, CommentsStandAboveWhatIsLeft) {
  const std::string text = written(
      "/// About a.\nint a();\n\n// Section one.\n\n/// About b.\nint b();\n/// About c.\nint c();\n\n"
      "// Section two.\n\nint d();\n",
      "int x = c();\n");
  EXPECT_THAT(text, HasSubstr("// What it is for.\n\n// Section one.\n/// About c.\nint c();\n\n}"));
}

TEST(Trim, MembersOfTheSourcesOwnTypesGoToo) {
  const std::string text =
      written("template <class T>\nint f() { return T::kUsed + T::Inner::kDeep; }\n",
              "struct Tuning {\n  // Cells.\n  static constexpr int kUnused = 1, kUsed = 2;\n"
              "  static constexpr int kAlone = 3;\n  struct Inner {\n    static constexpr int kDeep = 4;\n  };\n"
              "  // Never called.\n  static int unused() { return 1; }\n};\nint unasked() { return 1; }\nint x = "
              "f<Tuning>();\n");
  EXPECT_THAT(text, HasSubstr("struct Tuning {\n  // Cells.\n  static constexpr int kUnused = 1, kUsed = 2;\n"
                              "  struct Inner { static constexpr int kDeep = 4; };\n};\n"));
  EXPECT_THAT(text, HasSubstr("int unasked()")) << "what is no member stays";
}

TEST(Trim, TypesOfOneLineKeepToIt) {
  const char* type = "struct A { using Type = int; };\n";
  EXPECT_THAT(written(type, "A::Type x;\n"), HasSubstr(type));
}

TEST(Trim, AFunctionOfNothingStandsOnOneLine) {
  EXPECT_THAT(written("void f() {\n  if constexpr (false) g();\n}\n", "int x = (f(), 1);\n"),
              HasSubstr("void f() {}\n"));
}

TEST(Trim, TextWithoutTemplatesStaysAsItIs) {
  const std::string text = "#include \"other.h\"\n\nint unused() { return 1; }\n";
  EXPECT_EQ(write_out(text, {}).text(), text);
}

TEST(Trim, UnfinishedTextIsNoReasonToFail) {
  for (const char* broken : {"struct A { int f() {", "template <", "}", "int a = (1;", "#define", "#if 1\nint a;",
                             "enum class", "using", "if constexpr (", "namespace {", "\"", "/*"}) {
    EXPECT_NO_THROW(written(broken, "int x = a;\n")) << broken;
    EXPECT_NO_THROW(body(broken)) << broken;
  }
}

TEST(Trim, RefusesATemplateThatIsNotThere) {
  EXPECT_THROW(write_out("#include \"stencil_tune/none.cuh\"\n", {}), Error);
}

}  // namespace
}  // namespace stencil_tune
