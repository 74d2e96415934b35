"""The three kinds of stages of this app."""
