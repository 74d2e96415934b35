"""Template filters of the app."""
