// What verbs of stencils do with a kernel of the user's own: `stencil-tune export matmul.cu -o winner.cu`.
#pragma once

#include "tuner/commands/command.hpp"

namespace stencil_tune {

/// Whether what follows the verb begins with the file of one: NAME.cu, or NAME.toml.
bool begins_with_kernel(const Arguments& arguments);

int explain_user_kernel(const Arguments& arguments);
int export_user_kernel(const Arguments& arguments);
int report_user_kernel(const Arguments& arguments);

}  // namespace stencil_tune
