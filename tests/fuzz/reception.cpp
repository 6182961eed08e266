#include "tests/fuzz/reception.hpp"

#include "generator/definition/definition.hpp"
#include "generator/definition/text.hpp"
#include "generator/kernel_source/update_text.hpp"
#include "stencil_tune/error.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace stencil_tune {
namespace {

constexpr std::size_t kLongestMessage = 1500;

bool within_limits(const Stencil& stencil) {
  const auto finite = [](const Node& node) {
    return std::isfinite(node.value) && std::all_of(node.offset.begin(), node.offset.end(), [](int distance) {
             return std::abs(distance) <= kDefinitionLimits.offset;
           });
  };
  return stencil.nodes.size() <= 4 * kDefinitionLimits.nodes &&
         std::all_of(stencil.nodes.begin(), stencil.nodes.end(), finite);
}

bool consists_of(std::string_view text, std::string_view allowed) {
  return text.find_first_not_of(allowed) == std::string_view::npos;
}

/// Nothing that a user could have named stands in generated text: fields and coefficients are numbers there.
bool is_plain_update(std::string_view text) {
  return consists_of(text,
                     "abcdefghijklmnopqrstuvwxyzV0123456789_[](),.;:?!<>=+-*/ \n");  // V of Value
}

std::string harm_of(const Stencil& stencil) {
  if (!within_limits(stencil)) return "the stencil is beyond the limits";
  if (!consists_of(canonical_text(stencil), "abcdefghijklmnopqrstuvwxyz0123456789_[],.=+- \n")) {
    return "the canonical text holds more than words and numbers";
  }
  if (stencil.name.find_first_of("\n\"\\/*#{}() ") != std::string::npos) return "the name is no plain word";
  for (const std::string& field : stencil.fields) {
    if (!is_identifier(field)) return "a field's name is no identifier";
  }
  for (const Coefficient& c : stencil.coefficients) {
    if (!is_identifier(c.name) || !std::isfinite(c.value)) return "a coefficient is no number with a name";
  }
  for (int stage = 0; stage < static_cast<int>(stencil.stages.size()); ++stage) {
    const std::string text = update_text(stencil, stage, analyse(stencil, stage), {0, 1, 2});
    if (!is_plain_update(text)) return "the generated update holds more than arithmetic";
  }
  return {};
}

std::string harm_of(const Error& error) {
  const std::string_view message = error.what();
  if (error.code() != ErrorCode::malformed_definition) return "rejected for another reason: " + std::string(message);
  if (message.size() >= kLongestMessage) return "the message is too long";
  const bool printable =
      std::all_of(message.begin(), message.end(), [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); });
  return printable ? "" : "the message is not printable";
}

template <class Parse>
Reception receive(const Parse& parse) {
  try {
    return {true, harm_of(parse())};
  } catch (const Error& error) {
    return {false, harm_of(error)};
  }
}

}  // namespace

Reception receive_definition(std::string_view text) {
  return receive([&] { return parse_definition(text, "hostile.toml"); });
}

Reception receive_expression(std::string_view text, int rank) {
  return receive([&] { return parse_stencil(text, rank); });
}

}  // namespace stencil_tune
