"""Explore PyTorch profiler traces in the terminal."""
