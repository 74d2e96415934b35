"""BERTScore with any encoder (Zhang et al. 2020)."""
