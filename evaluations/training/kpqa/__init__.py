"""Training of a key phrase predictor for the KPQA metrics, from question answering sets as published."""
