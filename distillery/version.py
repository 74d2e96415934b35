"""The version of this installation; a test keeps it equal to pyproject.toml."""

VERSION = "0.2.0"
