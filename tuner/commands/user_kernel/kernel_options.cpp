#include "tuner/commands/user_kernel/kernel_options.hpp"

#include <vector>

namespace stencil_tune {

void add_size_option(CommandLine& line) {
  line.group("sizes").add_options()(
      "size", po::value<std::vector<std::string>>()->value_name("NAME=N")->composing(),
      "a size in place of the definition's, such as n=4096; several as n=4096,m=100 or one --size each; N alone where "
      "there is one size");
}

UserKernel kernel_from(const std::string& file, const po::variables_map& values) {
  UserKernel kernel = load_user_kernel(file);
  if (values.count("size") == 0) return kernel;
  for (const std::string& text : values["size"].as<std::vector<std::string>>()) {
    set_sizes(kernel, split_list(text));
  }
  return kernel;
}

}  // namespace stencil_tune
