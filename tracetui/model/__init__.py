"""What a recording holds: columns, read-only once built."""
