"""What a screen shows, decided without a screen."""
