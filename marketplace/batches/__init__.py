"""Batches: a template and a table become HITs, and their answers a table again."""
