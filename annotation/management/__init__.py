"""Commands of the annotation room."""
