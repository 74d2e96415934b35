"""Metrics that learn from a table of scored answers: training, cross-validation, and the report on both."""
