"""Tests of the notices app."""
