// A reference in a shared library: what kSaxpy (tests/generator/user_kernel/definitions.hpp) computes.
extern "C" void saxpy_reference(float* y, const float* x, float a, int n) {
  for (int i = 0; i < n; ++i) y[i] = a * x[i] + y[i];
}
