"""Rankers behind one interface (BM25, CROWN, their fusion, a cross-encoder), and why they rank so."""
