"""Researchers' pages about systems, judgments and the people who give them."""
