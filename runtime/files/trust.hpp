// Which files and folders may be trusted: with code that is to run, and to lead to where output goes.
#pragma once

#include <filesystem>
#include <string>

namespace stencil_tune {

enum class Owner { user, user_or_root };

/// Why somebody else may have written what lies there: a wrong owner, or others who may write. Links are followed.
/// Empty where nobody else can. What cannot be asked is not trusted.
std::string why_unsafe(const std::filesystem::path& path, Owner owner);

/// Why a link may lead where somebody else wants: it is neither this user's nor root's. Links are not followed. Empty
/// where nobody else made it.
std::string why_unsafe_link(const std::filesystem::path& link);

}  // namespace stencil_tune
