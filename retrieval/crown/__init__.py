"""CROWN: conversational queries, scores of passages, and why (paper 001, sections 2.2 and 2.3). No Django."""
