"""Metrics that need a model which somebody trained: KPQA, BERTScore, ADEM (extra `models`).

Nothing here imports PyTorch before a model is trained, loaded or asked to score, and nothing downloads.
"""
