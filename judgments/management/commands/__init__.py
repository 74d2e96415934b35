"""Command line of the room."""
