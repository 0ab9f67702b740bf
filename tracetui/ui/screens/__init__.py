"""A whole window each."""
