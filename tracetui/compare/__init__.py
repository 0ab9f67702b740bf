"""What two traces tell: baseline and candidate."""
