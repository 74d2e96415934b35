"""Scores and evaluations on the terminal and in files."""
