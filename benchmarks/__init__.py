"""Measurements of a running Distillery, from outside."""
