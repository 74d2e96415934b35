"""Measurements, one script for each section of `RESULTS.md`; `common` and `load` are shared by all."""
