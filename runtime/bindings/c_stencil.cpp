// The C interface: stencils from text, and what was understood of it.
#include "runtime/bindings/c_call.hpp"
#include "runtime/bindings/c_handles.hpp"

namespace stencil_tune {

namespace {

stencil_tune_stencil* make_c_stencil(Stencil stencil) {
  std::string key = stencil_key(stencil);
  std::string text = canonical_text(stencil);
  std::string type(stencil.element ? name(*stencil.element) : "");
  return new stencil_tune_stencil{std::move(stencil), std::move(key), std::move(text), std::move(type)};
}

/// The element at an index that C gave; null beyond the last.
template <class Element>
const Element* at(const std::vector<Element>& elements, std::int32_t index) {
  if (index < 0 || static_cast<std::size_t>(index) >= elements.size()) return nullptr;
  return &elements[static_cast<std::size_t>(index)];
}

template <class Parse>
stencil_tune_status parse_into(stencil_tune_stencil** stencil, const char* text, const char* what, Parse parse) {
  return guarded([&] {
    require(stencil, "stencil");
    *stencil = nullptr;
    require(text, what);
    *stencil = make_c_stencil(parse());
  });
}

}  // namespace

}  // namespace stencil_tune

using namespace stencil_tune;

extern "C" {

stencil_tune_status stencil_tune_stencil_load(const char* name_or_file, stencil_tune_stencil** stencil) {
  return parse_into(stencil, name_or_file, "name_or_file", [&] { return load_stencil(name_or_file); });
}

stencil_tune_status stencil_tune_stencil_parse(const char* expression, int32_t rank, stencil_tune_stencil** stencil) {
  return parse_into(stencil, expression, "expression", [&] { return parse_stencil(expression, rank); });
}

stencil_tune_status stencil_tune_stencil_define(const char* toml, const char* source, stencil_tune_stencil** stencil) {
  return parse_into(stencil, toml, "toml",
                    [&] { return parse_definition(toml, source != nullptr ? source : "definition"); });
}

void stencil_tune_stencil_release(stencil_tune_stencil* stencil) { delete stencil; }

const char* stencil_tune_stencil_name(const stencil_tune_stencil* stencil) { return stencil->stencil.name.c_str(); }

const char* stencil_tune_stencil_key(const stencil_tune_stencil* stencil) { return stencil->key.c_str(); }

const char* stencil_tune_stencil_text(const stencil_tune_stencil* stencil) { return stencil->text.c_str(); }

const char* stencil_tune_stencil_type(const stencil_tune_stencil* stencil) {
  return stencil->type.empty() ? nullptr : stencil->type.c_str();
}

int32_t stencil_tune_stencil_rank(const stencil_tune_stencil* stencil) { return stencil->stencil.rank; }

int32_t stencil_tune_stencil_stage_count(const stencil_tune_stencil* stencil) {
  return static_cast<int32_t>(stencil->stencil.stages.size());
}

int32_t stencil_tune_stencil_field_count(const stencil_tune_stencil* stencil) {
  return static_cast<int32_t>(stencil->stencil.fields.size());
}

int32_t stencil_tune_stencil_coefficient_count(const stencil_tune_stencil* stencil) {
  return static_cast<int32_t>(stencil->stencil.coefficients.size());
}

const char* stencil_tune_stencil_field_name(const stencil_tune_stencil* stencil, int32_t field) {
  const std::string* found = at(stencil->stencil.fields, field);
  return found != nullptr ? found->c_str() : nullptr;
}

const char* stencil_tune_stencil_coefficient_name(const stencil_tune_stencil* stencil, int32_t coefficient) {
  const Coefficient* found = at(stencil->stencil.coefficients, coefficient);
  return found != nullptr ? found->name.c_str() : nullptr;
}

double stencil_tune_stencil_coefficient_value(const stencil_tune_stencil* stencil, int32_t coefficient) {
  const Coefficient* found = at(stencil->stencil.coefficients, coefficient);
  return found != nullptr ? found->value : 0;
}

}  // extern "C"
