"""The kinds of stages of this app."""
