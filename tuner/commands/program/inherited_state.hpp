// What a program inherits from whoever starts it, made fit for work.
#pragma once

namespace stencil_tune {

/// To be called first of all, while there is one thread.
/// - Standard streams that are closed are opened for nothing, so that no other file takes their number: reads give
///   nothing, writes fail.
/// - SIGCHLD is taken as usual: the status of workers would be lost where it is ignored.
/// - SIGPIPE and SIGXFSZ are ignored: a write then fails and says why, in place of ending the program.
void mend_inherited_state();

}  // namespace stencil_tune
