"""Learned metrics of Distillery: scoring, training, and the evaluation sections of five papers."""
