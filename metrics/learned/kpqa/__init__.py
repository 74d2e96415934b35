"""KPQA: how likely each word of an answer is part of the key phrase (Lee et al. 2021)."""
