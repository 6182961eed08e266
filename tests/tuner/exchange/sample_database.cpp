// Writes the sample trials into a new database: scripts/check-exchange exports them.
#include "tests/tuner/exchange/sample_trials.hpp"

int main(int, char** arguments) {
  stencil_tune::store_sample_trials(arguments[1]);
  return 0;
}
