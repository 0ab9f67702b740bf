"""Two traces side by side, as pages of lines: why, the pieces of work, the merged tree."""
