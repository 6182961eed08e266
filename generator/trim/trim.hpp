// A kernel's source with its templates written out, and of them only what the kernel uses.
#pragma once

#include "generator/template_file.hpp"

#include <span>
#include <string>
#include <string_view>

namespace stencil_tune {

struct WrittenOut {
  std::string templates;  ///< what `source` uses of them; nothing where it includes none
  std::string source;     ///< without the lines that include them

  std::string text() const { return templates + source; }
};

/// Stands for the lines of `source` that include one of `files`: their texts in one namespace, each once and after what
/// it includes itself. Left out are branches of `if constexpr` and types of Choose that this stencil and tuning never
/// take, and definitions, members of the types of `source` too, that neither `source` nor `also_using`, the text of a
/// caller, names, by whatever way. What is compiled stays the same.
///
/// It goes by tokens and by the names of definitions, not by the language's rules: where it cannot tell, text stays.
/// It counts on what the templates keep to: S is the stencil, T the tuning, and lines open and close the one namespace.
/// Throws Error(internal) for a "stencil_tune/..." file that is not among `files`.
WrittenOut write_out(std::string_view source, std::span<const TemplateFile> files, std::string_view also_using = {});

}  // namespace stencil_tune
