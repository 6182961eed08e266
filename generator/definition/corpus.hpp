// The definitions in corpus/, carried along as text: they are known by name wherever a program runs.
#pragma once

#include "generator/template_file.hpp"
#include "stencil_tune/stencil.hpp"

#include <optional>
#include <span>
#include <string_view>

namespace stencil_tune {

/// The corpus's definitions, under their file names: "corpus/yee3d.toml".
std::span<const TemplateFile> corpus_files();

/// The stencil of that name, where it has this key too, or what is left of it in a zone of a grid with layers, where
/// that has it: what was stored may be another one of the same name.
std::optional<Stencil> known_stencil(std::string_view name, std::string_view key);

}  // namespace stencil_tune
