"""One module for each rule; RULES lists them."""
