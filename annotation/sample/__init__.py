"""Queries and passages to try things with: see ATTRIBUTION.md for whose they are."""
