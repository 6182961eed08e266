"""Gradients of runs, for libraries that differentiate."""
