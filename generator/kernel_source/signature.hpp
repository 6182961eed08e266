// Which version of the templates a kernel is made with.
#pragma once

#include "generator/candidates/tuning.hpp"
#include "generator/kernel_source/source.hpp"

#include <span>
#include <string>
#include <string_view>

namespace stencil_tune {

/// Hash of the template that the candidate instantiates, of all that it includes and of the generator's version: a
/// trial that carries another one is stale. A change to one template leaves the candidates of the others fresh.
/// Comments, blank space and the names of files do not count. Thread-safe.
std::string template_signature(const Tuning& tuning);

/// The same for all template files that a source includes: what its binary depends on besides its own text. Who
/// includes other files says in the text which version of them it means.
std::string template_signature(const KernelSource& source);

/// The same for template `file` ("stencil_tune/direct.cuh") among `files`, which are read anew each time.
/// Throws Error(internal) for a file that is not among them.
std::string template_signature(std::string_view file, std::span<const TemplateFile> files);

/// C++ text with its tokens alone: no comments, and of blank space only what keeps tokens and directives apart.
/// Literals stay as they are.
std::string strip_comments(std::string_view text);

}  // namespace stencil_tune
