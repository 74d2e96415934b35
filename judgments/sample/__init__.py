"""Answers of two made-up systems to queries of annotation/sample, in our own words (CC0 1.0).

`sample-a` is good, `sample-b` is weaker: wrong, partial and irrelevant answers. A few are copies of what
editors of the demonstration write. `truth` is how correct each is, from 1 to 5, for simulated judges.
"""
