"""Answers with references and human scores out of files and releases, a chunk at a time."""
