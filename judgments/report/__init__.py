"""The honest report as files and on the terminal."""
