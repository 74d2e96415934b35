"""Models of learned metrics in this installation: which there are, and which one an evaluation uses.

Cards are read and files are compared here; no model is loaded before a metric scores.
"""
