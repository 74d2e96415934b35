"""Metrics that need a trained model: KPQA, BERTScore, ADEM (extra `models`).

Nothing here imports PyTorch before a model is trained, loaded or asked to score, and nothing downloads.
"""
