// A kernel of the user's own, as its definition says: docs/kernels-of-your-own.md describes the format.
//
// Only names and numbers leave a definition's text, names as identifiers. The source is the user's own code and is
// compiled as it stands, behind one #define a tuning parameter.
#pragma once

#include "generator/user_kernel/whole_expression.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stencil_tune {

/// What the cells of an array are, or a value that is passed by itself.
enum class CellType { f32, f64, f16, bf16, i32, u32, i64, u64, u8 };

std::string_view name(CellType type) noexcept;
std::size_t size_of(CellType type) noexcept;  ///< bytes
bool is_floating(CellType type) noexcept;
std::string_view c_name(CellType type) noexcept;  ///< "long long"; 16-bit floating point by its bits

/// What stands in an array before a launch.
enum class Fill {
  random,    ///< floating point: -1 to 1; whole numbers: 0 to 255
  integers,  ///< -8 to 8, unsigned 0 to 16: sums of them are exact
  zeros,
  index,   ///< the number of the cell
  number,  ///< one and the same
};

enum class Role {
  input,
  output,  ///< poisoned, then compared
  inout,   ///< filled, then compared
};

struct KernelArgument {
  std::string name;
  CellType type = CellType::f32;
  bool is_array = false;

  // Arrays alone have these.
  Role role = Role::input;
  WholeExpression length{};  ///< cells
  Fill fill = Fill::random;
  double fill_number = 0;  ///< what Fill::number fills with

  // Values alone have these: the number where there is one, else the expression.
  std::optional<double> number{};
  WholeExpression value{};

  /// A __constant__ or __device__ array of the source that holds a copy of an input; empty: there is none.
  std::string symbol{};
  bool is_parameter = true;  ///< the kernel takes it; false: the kernel finds the cells in the symbol alone

  /// A file with the cells, or the value, that an application's launch was given: in place of fill and value.
  std::string captured{};

  bool is_compared() const noexcept { return is_array && role != Role::input; }
};

struct LaunchExpressions {
  std::vector<WholeExpression> block;  ///< threads along x, y, z; 1 to 3
  std::vector<WholeExpression> grid;   ///< blocks
  WholeExpression shared_bytes{};      ///< dynamic shared memory
};

struct UserKernelParameter {
  std::string name;
  std::vector<std::int64_t> values;  ///< each once, ascending
};

struct Rule {
  std::string name;
  WholeExpression condition;
};

/// What is right: a kernel that is simple enough to trust, or a function in a library of the host.
struct UserKernelReference {
  std::string kernel;          ///< a __global__ function with the same arguments; empty: the function is it
  std::string file;            ///< the kernel's file, where that is another one
  LaunchExpressions launch{};  ///< the kernel's; expressions of sizes
  std::string library;         ///< a shared object's path
  std::string function;
  double tolerance = 1e-4;  ///< |x - r| <= tolerance * max(1, |r|)
};

struct UserKernelSize {
  std::string name;
  std::int64_t value = 0;
};

struct UserKernel {
  std::string name;  ///< the __global__ function's
  std::string about;
  std::vector<UserKernelSize> sizes;  ///< with the values that are to be tuned
  std::vector<UserKernelParameter> parameters;
  std::vector<WholeExpression> default_values{};  ///< one a parameter, of sizes; empty: the definition has none
  std::vector<Rule> rules;
  LaunchExpressions launch;
  std::vector<KernelArgument> arguments;
  UserKernelReference reference;
  std::optional<WholeExpression> flops{};  ///< operations of a launch
  std::optional<WholeExpression> bytes{};  ///< bytes that a launch has to move
  std::string file;                        ///< the source's file, for messages and #line
  std::string definition;                  ///< the text that this was read from
  std::string definition_file;             ///< its file, for messages
  std::string source;                      ///< text, with the files of its own that it includes
  std::string reference_source;            ///< text of the reference's kernel, where it stands in another file
  std::string captured_data{};  ///< hash of all that is captured; empty: arguments are as the definition says

  WholeValues size_values() const;
};

/// What a definition may be at most.
struct UserKernelLimits {
  std::size_t source_bytes = 1U << 20;  ///< with all that it includes
  std::size_t sizes = 16;
  std::size_t parameters = 32;
  std::size_t values = 1024;  ///< values that a parameter may have
  std::size_t rules = 64;
  std::size_t arguments = 64;
};

inline constexpr UserKernelLimits kUserKernelLimits{};

/// A definition in a comment of a source that opens with "/* stencil-tune", or a document of its own; without its
/// sources. `file` names the text in messages. Throws Error(malformed_definition) with line and column.
struct UserKernelText {
  UserKernel kernel;
  std::string source_file;  ///< the file that the document names; empty: the text itself is the source
};
UserKernelText parse_user_kernel(std::string_view text, std::string_view file);

/// From a file: a source, or a document (.toml), with the files that it names and the sources' own includes; or from a
/// folder that captured a launch (captured_launch.hpp). Throws Error(file_io) too.
UserKernel load_user_kernel(const std::string& path);

/// With other sizes: "n=4096", or "4096" where there is one size. Throws Error: unknown_name, invalid_argument.
void set_sizes(UserKernel& kernel, std::span<const std::string> settings);

}  // namespace stencil_tune
