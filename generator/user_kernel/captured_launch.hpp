// A launch of an application's, kept in a folder so that it is tuned outside the program:
//     definition.cu or .toml    as the application's library read it
//     kernel.cu, reference.cu   the sources with what they include; reference.cu where it is another file
//     library.txt               the path of the reference's library, where it is one
//     sizes.txt                 "n=4096 m=100"
//     NAME.bin                  bytes of each argument that the kernel reads, before the launch
#pragma once

#include <array>
#include <string>

namespace stencil_tune::captured {

inline constexpr std::array<const char*, 2> kDefinitions{"definition.cu", "definition.toml"};
inline constexpr const char* kSource = "kernel.cu";
inline constexpr const char* kReference = "reference.cu";
inline constexpr const char* kLibrary = "library.txt";
inline constexpr const char* kSizes = "sizes.txt";

inline std::string argument_file(const std::string& name) { return name + ".bin"; }

}  // namespace stencil_tune::captured
