"""Researchers' pages about queries, passages and answers."""
