"""Metrics of answers, a module per family."""
