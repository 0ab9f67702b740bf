"""What to do about it: rules and findings."""
