"""Words and sentences of passages and queries: one set of rules for network, scorer and highlights. Pure."""
