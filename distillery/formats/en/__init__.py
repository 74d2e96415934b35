"""Formats of the language en."""
