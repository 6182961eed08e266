// The verbs of `stencil-tune`: one file each.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stencil_tune {

using Arguments = std::vector<std::string>;  ///< what follows the verb

struct Command {
  std::string_view name;
  std::string_view summary;      ///< one line of `stencil-tune --help`; empty: not listed
  int (*run)(const Arguments&);  ///< returns the exit status; throws Error
};

std::span<const Command> commands();

int run_tune(const Arguments& arguments);
int run_kernel(const Arguments& arguments);
int run_list(const Arguments& arguments);
int run_show(const Arguments& arguments);
int run_report(const Arguments& arguments);
int run_devices(const Arguments& arguments);
int run_stencils(const Arguments& arguments);
int run_explain(const Arguments& arguments);
int run_bench(const Arguments& arguments);
int run_replay(const Arguments& arguments);
int run_db(const Arguments& arguments);
int run_export(const Arguments& arguments);
int run_compile_worker(const Arguments& arguments);
int run_device_worker(const Arguments& arguments);

}  // namespace stencil_tune
