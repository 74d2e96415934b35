"""Seeing inside a running installation: ids of requests in the log, and figures for Prometheus."""
