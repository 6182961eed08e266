// Fuzz target: a candidate's code, judged for a problem of each rank, and its kernel where it is legal.
#include "generator/candidates/constraints.hpp"
#include "generator/kernel_source/source.hpp"
#include "generator/printable.hpp"
#include "stencil_tune/error.hpp"
#include "stencil_tune/stencil.hpp"
#include "tests/fuzz/harm.hpp"

#include <array>

using namespace stencil_tune;

namespace {

const std::array<Problem, 3> kProblems{
    make_problem(make_builtin(Shape::star, 1, 2), ElementType::f64, {Boundary::clamp}, {1, {1 << 20, 1, 1}}, 0, 1, 0),
    make_problem(make_builtin(Shape::box, 2, 1), ElementType::f16, {Boundary::periodic, Boundary::hold},
                 {2, {4096, 300, 1}}, 4096, 8, 0),
    make_problem(make_builtin(Shape::star, 3, 1), ElementType::f32, {}, {3, {512, 512, 512}}, 512, 100, 0)};

void judge(const Tuning& tuning) {
  for (const Problem& problem : kProblems) {
    const Candidate candidate(problem, tuning);
    if (first_violation(candidate, limits_of_architecture("sm_90"))) continue;
    require(!generate(candidate).text.empty(), "a legal candidate has no source");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const Tuning tuning = parse_code(text_of(data, size));
    const std::string text = code(tuning);
    require(code(parse_code(text)) == text, "a code does not parse back");
    judge(tuning);
  } catch (const Error& error) {
    require(error.code() == ErrorCode::malformed_code, "rejected for another reason");
    require(printable_lines(error.what()) == error.what(), "the message is not printable");
  }
  return 0;
}
