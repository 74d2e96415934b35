"""Training of a keyphrase predictor (Lee et al. 2021, 5.1 and C.1)."""
