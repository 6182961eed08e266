#include "runtime/compile/machine_code.hpp"

#include <elf.h>
#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace stencil_tune {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::size_t kWord = 8;  // no constant is larger, every table is

Bytes part(Bytes bytes, std::size_t offset, std::size_t size) {
  if (offset > bytes.size() || bytes.size() - offset < size) throw std::runtime_error("the cubin is cut short");
  return bytes.subspan(offset, size);
}

/// A copy of the T at `offset`: a cubin's bytes need not be aligned.
template <typename T>
T read(Bytes bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, part(bytes, offset, sizeof value).data(), sizeof value);
  return value;
}

std::uint64_t hash_of(Bytes bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

std::uint64_t hash_of(std::uint64_t number, std::uint64_t seed) {
  return XXH3_64bits_withSeed(&number, sizeof number, seed);
}

struct Section {
  std::string_view name;
  Elf64_Shdr header{};
  Bytes contents;  ///< empty for memory that is only reserved
};

std::vector<Section> sections_of(Bytes cubin) {
  const auto file = read<Elf64_Ehdr>(cubin, 0);
  std::vector<Section> sections(file.e_shnum);
  for (std::size_t i = 0; i < sections.size(); ++i) {
    Section& section = sections[i];
    section.header = read<Elf64_Shdr>(cubin, file.e_shoff + i * sizeof(Elf64_Shdr));
    if (section.header.sh_type == SHT_NOBITS) continue;
    section.contents = part(cubin, section.header.sh_offset, section.header.sh_size);
  }
  const Bytes names = sections.at(file.e_shstrndx).contents;
  for (Section& section : sections) {
    const Bytes name = part(names, section.header.sh_name, names.size() - section.header.sh_name);
    section.name = reinterpret_cast<const char*>(name.data());
  }
  return sections;
}

/// Attributes are {format, attribute, value or size of what follows}. Symbols, which some begin with, have numbers that
/// depend on how many others there are: they are skipped.
std::uint64_t hash_of_attributes(const Section& section, std::uint64_t hash) {
  constexpr std::byte kSized{4};
  constexpr std::byte kParameterBank{10};
  const bool of_all_kernels = section.name == ".nv.info";
  for (std::size_t at = 0; at < section.contents.size();) {
    const Bytes head = part(section.contents, at, 4);
    const auto value = read<std::uint16_t>(head, 2);
    const std::size_t size = head[0] == kSized ? value : 0;
    const std::size_t symbol = size > 0 && (of_all_kernels || head[1] == kParameterBank) ? sizeof(Elf64_Word) : 0;
    hash = hash_of(head, hash);
    hash = hash_of(part(section.contents, at + 4 + symbol, size - symbol), hash);
    at += 4 + size;
  }
  return hash;
}

/// Tables in memory, in an order that does not depend on their names.
std::uint64_t hash_of_tables(const std::vector<Section>& sections, const Section& symbols, std::uint64_t hash) {
  std::vector<std::uint64_t> tables;
  for (std::size_t at = 0; at < symbols.contents.size(); at += sizeof(Elf64_Sym)) {
    const auto symbol = read<Elf64_Sym>(symbols.contents, at);
    if (symbol.st_size <= kWord || symbol.st_shndx >= sections.size()) continue;
    const Section& home = sections[symbol.st_shndx];
    if (!home.name.starts_with(".nv.global") || home.contents.empty()) continue;
    tables.push_back(hash_of(part(home.contents, symbol.st_value, symbol.st_size), 0));
  }
  std::sort(tables.begin(), tables.end());
  for (const std::uint64_t table : tables) hash = hash_of(table, hash);
  return hash;
}

/// Bank 4 holds the addresses of what is in memory.
bool is_executed(std::string_view name) {
  return name.starts_with(".text.") || name.starts_with(".nv.shared.") ||
         (name.starts_with(".nv.constant") && name != ".nv.constant4");
}

bool is_cubin(Bytes bytes) {
  constexpr auto kClass = static_cast<std::byte>(ELFCLASS64);
  return bytes.size() >= sizeof(Elf64_Ehdr) && std::memcmp(bytes.data(), ELFMAG, SELFMAG) == 0 &&
         bytes[EI_CLASS] == kClass;
}

std::uint64_t hash_of(const std::vector<Section>& sections, Tables tables) {
  std::uint64_t hash = 0;
  for (const Section& section : sections) {
    if (is_executed(section.name)) {
      hash = hash_of(std::as_bytes(std::span(section.name)), hash);
      hash = hash_of(section.header.sh_size, hash);
      hash = hash_of(section.contents, hash);
    } else if (section.name.starts_with(".nv.info")) {
      hash = hash_of_attributes(section, hash);
    } else if (section.header.sh_type == SHT_SYMTAB && tables == Tables::counted) {
      hash = hash_of_tables(sections, section, hash);
    }
  }
  return hash;
}

}  // namespace

std::string machine_code(std::span<const std::byte> cubin, Tables tables) try {
  if (!is_cubin(cubin)) return {};
  return fmt::format("{:016x}", hash_of(sections_of(cubin), tables));
} catch (const std::runtime_error&) {
  return {};
}

}  // namespace stencil_tune
