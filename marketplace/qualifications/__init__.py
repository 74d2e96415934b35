"""Qualifications: what HITs ask for, and who has what."""
