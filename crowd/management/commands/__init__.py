"""Command line of the app."""
