"""One module for each workload."""
