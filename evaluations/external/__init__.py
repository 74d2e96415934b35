"""Scores of a release's candidates that a metric elsewhere gave: read from a file, matched, kept."""
