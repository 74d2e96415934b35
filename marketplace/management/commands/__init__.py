"""Command line of the marketplace."""
