"""What one trace tells: pure functions, trace in, result out."""
