"""Corpora of passages and the indexes that find candidates in them."""
