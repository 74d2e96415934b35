"""The kinds of stages of this room."""
