"""Metrics of metrics: how well does one agree with people."""
