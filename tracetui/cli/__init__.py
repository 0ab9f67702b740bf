"""The command line: parses, calls, prints, exits; one module for each subcommand."""
