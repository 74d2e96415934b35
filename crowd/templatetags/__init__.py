"""Template filters of the room."""
