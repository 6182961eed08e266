// Ends the program, with a name, when a kernel never ends: nothing in the process could stop it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <string>
#include <thread>

namespace stencil_tune {

class Watchdog {
 public:
  Watchdog(std::string what, std::chrono::seconds longest)
      : thread_([what = std::move(what), longest](const std::stop_token& stop) {
          std::mutex mutex;
          std::condition_variable_any stopped;
          std::unique_lock lock(mutex);
          stopped.wait_for(lock, stop, longest, [] { return false; });
          if (stop.stop_requested()) return;
          std::cerr << what << " did not end within " << longest.count() << " s; the program ends here" << std::endl;
          std::_Exit(EXIT_FAILURE);
        }) {}

 private:
  std::jthread thread_;  // asked to stop when destroyed
};

}  // namespace stencil_tune
