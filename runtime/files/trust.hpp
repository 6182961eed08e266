// Which files and folders may be trusted with code that is to run.
#pragma once

#include <filesystem>
#include <string>

namespace stencil_tune {

enum class Owner { user, user_or_root };

/// Why somebody else may have written what lies there: a wrong owner, or others who may write. Links are followed.
/// Empty where nobody else can. What cannot be asked is not trusted.
std::string why_unsafe(const std::filesystem::path& path, Owner owner);

}  // namespace stencil_tune
