"""Template filters of the marketplace."""
