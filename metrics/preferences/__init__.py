"""Comparisons of two answers: strengths of systems, ties, side and style, circular triples. No Django.

Definitions and sources: docs/preferences.md. Everything works on `comparisons.Comparisons`.
"""
