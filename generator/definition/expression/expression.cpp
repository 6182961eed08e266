// One-liners: --expr "u_next = u + alpha * laplacian(u); alpha = 0.1".
#include "generator/definition/definition.hpp"
#include "generator/definition/expression/functions.hpp"
#include "generator/definition/stencil.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace stencil_tune {
namespace {

struct Clause {
  Token name;  ///< the left side; kind `end` where there is none
  ExpressionText right;
  std::optional<double> number;  ///< where the right side is made of numbers alone
  std::string_view place{};      ///< what stands in brackets in "dz(z)", "H(x, y)", "w(t)" or "psx(x in layer)"
  bool measures = false;         ///< "measure residual = max(...)"
  bool stores = false;           ///< "storage image = u8/255"
};

/// Whether a clause gives the name a value.
bool is_given(std::string_view name, const std::vector<Token>& tokens) {
  return std::adjacent_find(tokens.begin(), tokens.end(), [&](const Token& token, const Token& next) {
           return token.text == name && next.text == "=";
         }) != tokens.end();
}

/// Whether the tokens are nothing but numbers, functions of them, sums over them, and pi where that is one.
bool is_number(const std::vector<Token>& tokens, std::size_t first, std::size_t last, bool pi_is_number) {
  std::set<std::string_view> counts;  // what ranges are written with: k in 1..3
  for (std::size_t i = first; i + 1 < last; ++i) {
    if (tokens[i].kind == Token::Kind::name && tokens[i + 1].text == "in") counts.insert({tokens[i].text, "in"});
  }
  for (std::size_t i = first; i < last; ++i) {
    const bool is_call = tokens[i + 1].text == "(" && find_function(tokens[i].text) != nullptr;
    const bool is_pi = tokens[i].text == "pi" && pi_is_number;
    if (tokens[i].kind == Token::Kind::name && !is_call && !is_pi && !counts.contains(tokens[i].text)) return false;
  }
  return first < last;
}

/// The token behind "dz(z)", "H(x, y)", "w(t)" or "psx(x in layer)"; `first` where none begins there.
std::size_t end_of_declaration(const std::vector<Token>& tokens, std::size_t first, std::size_t last) {
  const auto is_name = [&](std::size_t i) { return i < last && tokens[i].kind == Token::Kind::name; };
  if (!is_name(first) || tokens[first + 1].text != "(" || find_function(tokens[first].text) != nullptr) return first;
  std::size_t i = first + 2;
  while (is_name(i) && tokens[i + 1].text == ",") i += 2;
  if (!is_name(i++)) return first;
  if (is_name(i) && tokens[i].text == "in" && tokens[i + 1].text == "layer") i += 2;
  return i < last && tokens[i].text == ")" ? i + 1 : first;
}

bool declares_field(const Clause& clause) { return !clause.place.empty(); }

std::vector<Clause> split_clauses(const DefinitionText& text) {
  const std::vector<Token> tokens = tokenize({&text, 0, text.text().size()});
  const bool pi_is_number = !is_given("pi", tokens);
  std::vector<Clause> clauses;
  for (std::size_t first = 0; first < tokens.size();) {
    std::size_t last = first;
    while (tokens[last].kind != Token::Kind::end && tokens[last].text != ";") ++last;
    const std::size_t after = last + 1;
    if (first == last && !clauses.empty() && after == tokens.size()) break;  // a closing semicolon
    Clause clause;
    const bool has_word = last - first >= 4 && tokens[first + 2].text == "=";
    clause.measures = has_word && tokens[first].text == "measure";
    clause.stores = has_word && tokens[first].text == "storage";
    if (clause.measures || clause.stores) ++first;
    if (last - first >= 2 && tokens[first].kind == Token::Kind::name && tokens[first + 1].text == "=") {
      clause.name = tokens[first];
      first += 2;
    }
    const std::size_t declared = end_of_declaration(tokens, first, last);
    if (declared > first && tokens[declared].text == "=") {
      text.reject(tokens[declared].offset,
                  fmt::format("a field with a place is filled by the caller: write {0}(...) alone, or {0} = ... for a "
                              "coefficient or an update",
                              quotable(tokens[first].text)));
    }
    clause.right = {&text, tokens[first].offset, tokens[last].offset - tokens[first].offset};
    if (clause.name.kind == Token::Kind::name) {
      if (!clause.measures && !clause.stores && is_number(tokens, first, last, pi_is_number))
        clause.number = parse_number(clause.right);
    } else if (declared > first && declared == last) {
      clause.name = tokens[first];
      const std::size_t begin = tokens[first + 2].offset;
      clause.place = text.text().substr(begin, tokens[last - 1].offset - begin);
    }
    clauses.push_back(clause);
    first = after;
  }
  // Nothing but that is a call of a function that there is not.
  if (clauses.size() == 1 && declares_field(clauses[0])) clauses[0].name = {}, clauses[0].place = {};
  return clauses;
}

struct Output {
  std::string_view name;
  std::size_t offset;
  ExpressionText right;
};

/// All of a line is one sweep.
void refuse_read(const DefinitionText& where, const Scope& scope, const Output& output) {
  const auto found = scope.symbols().find(output.name);
  if (found == scope.symbols().end() || found->second.kind != Symbol::Kind::field || !found->second.used) return;
  where.reject(output.offset, fmt::format("the sweep reads field '{0}', which it writes; a field's next state is "
                                          "written {0}_next = ..., and a coefficient's value is made of numbers alone, "
                                          "as in {0} = 1/3",
                                          quotable(output.name)));
}

/// The measures' stencil where those are read, else the one that they measure.
struct LineReader {
  const DefinitionText& where;
  const std::vector<Clause>& clauses;
  int rank;

  bool has_measures() const {
    return std::any_of(clauses.begin(), clauses.end(), [](const Clause& clause) { return clause.measures; });
  }

  Stencil read(Form form, const std::vector<std::string>& used) const {
    DefinedStencil stencil(where, "expression", rank, form);
    const std::vector<Output> outputs = declare(stencil);
    const std::vector<NodeId> values = fields(stencil, outputs);
    for (std::size_t i = 0; i < outputs.size(); ++i) stencil.update(outputs[i].name, values[i], outputs[i].offset);
    stencil.rotate_by_convention();
    stencil.use(used);
    return std::move(stencil).build(0);
  }

  /// used: is given the names that they use.
  Measures measured(std::vector<std::string>& used) const {
    std::vector<Reduction> reductions;
    const auto in_form = [&](Form form) {
      DefinedStencil stencil(where, "expression", rank, form);
      const std::vector<Output> outputs = declare(stencil);
      const std::vector<NodeId> values = fields(stencil, outputs);
      stencil.scope().declare_unknown_fields(false);
      for (std::size_t i = 0; i < outputs.size(); ++i) {
        stencil.stands_for(outputs[i].name, values[i], outputs[i].offset);
      }
      for (const Clause& clause : clauses) {
        if (clause.measures) stencil.measure(clause.name.text, clause.right, clause.name.offset);
      }
      reductions = stencil.reductions();
      used = stencil.used_names();
      return std::move(stencil).build(0);
    };
    Stencil simplified = in_form(Form::simplified);
    return {with_written_form(std::move(simplified), in_form(Form::written)), reductions};
  }

 private:
  std::vector<Output> declare(DefinedStencil& stencil) const {
    for (const Clause& clause : clauses) {
      if (clause.number) stencil.declare_coefficient(clause.name.text, *clause.number, clause.name.offset);
      if (declares_field(clause)) stencil.declare_field_at(clause.name.text, clause.place, clause.name.offset);
    }
    stencil.scope().declare_unknown_fields();
    store(stencil);
    std::vector<Output> outputs;
    for (const Clause& clause : clauses) {
      if (clause.number || declares_field(clause) || clause.measures || clause.stores) continue;
      const bool named = clause.name.kind == Token::Kind::name;
      if (!named && !outputs.empty())
        where.reject(clause.right.begin, "each of several updates needs a name, as in v = ...");
      outputs.push_back(
          {named ? clause.name.text : "out", named ? clause.name.offset : clause.right.begin, clause.right});
    }
    if (outputs.empty()) where.reject(0, "this updates no field; write for example u_next = 0.5*(u[x-1] + u[x+1])");
    return outputs;
  }

  /// How fields are stored is known before they are read; their order is that of a line that does not say it.
  void store(DefinedStencil& stencil) const {
    std::vector<Clause> others, stored;
    for (const Clause& clause : clauses) (clause.stores ? stored : others).push_back(clause);
    if (stored.empty()) return;
    const LineReader reader{where, others, rank};
    std::vector<std::string> used;  // by the measures and by the storage
    if (reader.has_measures()) reader.measured(used);
    for (const Clause& clause : others) {
      if (clause.number) used.emplace_back(clause.name.text);
    }
    Scope& scope = stencil.scope();
    for (const std::string& name : reader.read(Form::simplified, used).fields) {
      if (!scope.symbols().contains(name)) scope.declare(name, {Symbol::Kind::field, scope.builder().field(name)});
    }
    for (const Clause& clause : stored) stencil.storage(clause.name.text, clause.right, clause.name.offset);
  }

  /// What is read becomes a field before what is written: a kernel takes the fields in that order.
  std::vector<NodeId> fields(DefinedStencil& stencil, const std::vector<Output>& outputs) const {
    std::vector<NodeId> values;
    for (const Output& output : outputs) values.push_back(parse_expression(output.right, stencil.scope()));
    for (const Output& output : outputs) {
      refuse_read(where, stencil.scope(), output);
      if (!stencil.scope().symbols().contains(output.name)) stencil.declare_field(output.name, output.offset);
    }
    return values;
  }
};

}  // namespace

Stencil parse_stencil(std::string_view text, int rank) {
  const DefinitionText where("expression", text.substr(0, kDefinitionLimits.bytes));
  if (text.size() > kDefinitionLimits.bytes) {
    where.reject(0, fmt::format("the expression has {} bytes; {} is the most", text.size(), kDefinitionLimits.bytes));
  }
  const std::vector<Clause> clauses = split_clauses(where);
  const LineReader reader{where, clauses, rank};
  std::vector<std::string> used;  // by measures
  const auto measures = reader.has_measures() ? std::make_shared<Measures>(reader.measured(used)) : nullptr;
  Stencil simplified = reader.read(Form::simplified, used);
  Stencil stencil = with_written_form(std::move(simplified), reader.read(Form::written, used));
  stencil.measures = measures;
  return stencil;
}

}  // namespace stencil_tune
