// One-liners: --expr "u_next = u + alpha * laplacian(u); alpha = 0.1".
#include "generator/definition/definition.hpp"
#include "generator/definition/expression/functions.hpp"
#include "generator/definition/stencil.hpp"

#include <fmt/format.h>

#include <optional>

namespace stencil_tune {
namespace {

struct Clause {
  Token name;  ///< the left side; kind `end` where there is none
  ExpressionText right;
  std::optional<double> number;  ///< where the right side is nothing but a number
  Token axis{};                  ///< of "dz(z)", which declares a profile of that name; kind `end` elsewhere
};

/// A signed literal and nothing else.
std::optional<double> lone_number(const std::vector<Token>& tokens, std::size_t first, std::size_t last) {
  double sign = 1;
  if (last - first == 2 && (tokens[first].text == "-" || tokens[first].text == "+")) {
    sign = tokens[first].text == "-" ? -1 : 1;
    ++first;
  }
  if (last - first != 1 || tokens[first].kind != Token::Kind::number) return std::nullopt;
  return sign * tokens[first].value;
}

/// "dz(z)" and nothing else.
bool declares_profile(const std::vector<Token>& tokens, std::size_t first, std::size_t last) {
  return last - first == 4 && tokens[first].kind == Token::Kind::name && tokens[first + 1].text == "(" &&
         tokens[first + 2].kind == Token::Kind::name && tokens[first + 3].text == ")" &&
         find_function(tokens[first].text) == nullptr;
}

bool is_profile(const Clause& clause) { return clause.axis.kind == Token::Kind::name; }

std::vector<Clause> split_clauses(const DefinitionText& text) {
  const std::vector<Token> tokens = tokenize({&text, 0, text.text().size()});
  std::vector<Clause> clauses;
  for (std::size_t first = 0; first < tokens.size();) {
    std::size_t last = first;
    while (tokens[last].kind != Token::Kind::end && tokens[last].text != ";") ++last;
    const std::size_t after = last + 1;
    if (first == last && !clauses.empty() && after == tokens.size()) break;  // a closing semicolon
    Clause clause;
    if (last - first >= 2 && tokens[first].kind == Token::Kind::name && tokens[first + 1].text == "=") {
      clause.name = tokens[first];
      first += 2;
    }
    clause.right = {&text, tokens[first].offset, tokens[last].offset - tokens[first].offset};
    if (clause.name.kind == Token::Kind::name) {
      clause.number = lone_number(tokens, first, last);
    } else if (declares_profile(tokens, first, last)) {
      clause.name = tokens[first];
      clause.axis = tokens[first + 2];
    }
    clauses.push_back(clause);
    first = after;
  }
  // Nothing but that is a call of a function that there is not.
  if (clauses.size() == 1 && is_profile(clauses[0])) clauses[0].name = clauses[0].axis = Token{};
  return clauses;
}

Stencil read(const DefinitionText& where, const std::vector<Clause>& clauses, int rank, Form form) {
  DefinedStencil stencil(where, "expression", rank, form);
  for (const Clause& clause : clauses) {
    if (clause.number) stencil.declare_coefficient(clause.name.text, *clause.number, clause.name.offset);
    if (is_profile(clause)) stencil.declare_profile(clause.name.text, clause.axis.text, clause.name.offset);
  }
  stencil.scope().declare_unknown_fields();
  std::vector<std::pair<std::string_view, const Clause*>> updates;
  for (const Clause& clause : clauses) {
    if (clause.number || is_profile(clause)) continue;
    const bool named = clause.name.kind == Token::Kind::name;
    if (!named && !updates.empty())
      where.reject(clause.right.begin, "each of several updates needs a name, as in v = ...");
    updates.emplace_back(named ? clause.name.text : "out", &clause);
  }
  if (updates.empty()) where.reject(0, "this updates no field; write for example u_next = 0.5*(u[x-1] + u[x+1])");
  for (const auto& [output, clause] : updates) {
    const std::size_t offset = clause->name.kind == Token::Kind::name ? clause->name.offset : clause->right.begin;
    if (stencil.scope().find(output) == nullptr) where.reject(offset, stencil.scope().obstacle(output));
    stencil.update(output, clause->right, offset);
  }
  stencil.rotate_by_convention();
  return std::move(stencil).build(0);
}

}  // namespace

Stencil parse_stencil(std::string_view text, int rank) {
  const DefinitionText where("expression", text.substr(0, kDefinitionLimits.bytes));
  if (text.size() > kDefinitionLimits.bytes) {
    where.reject(0, fmt::format("the expression has {} bytes; {} is the most", text.size(), kDefinitionLimits.bytes));
  }
  const std::vector<Clause> clauses = split_clauses(where);
  Stencil simplified = read(where, clauses, rank, Form::simplified);
  return with_written_form(std::move(simplified), read(where, clauses, rank, Form::written));
}

}  // namespace stencil_tune
