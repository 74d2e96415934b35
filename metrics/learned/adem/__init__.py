"""ADEM: a score learned from people's (Lowe et al. 2017)."""
