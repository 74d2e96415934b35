"""The command that serves it."""
