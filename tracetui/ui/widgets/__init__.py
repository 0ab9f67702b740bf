"""Drawing, nothing more."""
