"""Agreement, filters and scores of ratings: arrays in, numbers out, no Django.

Definitions and sources: docs/quality.md. Everything works on `metrics.agreement.data.Ratings`, columns in
the order in which the ratings were submitted.
"""
