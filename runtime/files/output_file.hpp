// Files that are written for the user.
#pragma once

#include <filesystem>
#include <string_view>

namespace stencil_tune {

/// The whole text, or nothing: written to a file beside it, which then takes its name. What stood there stays until the
/// new text is complete. What is no regular file (a device, a pipe) is written to directly. Throws Error(file_io).
void write_output_file(const std::filesystem::path& path, std::string_view text);

}  // namespace stencil_tune
