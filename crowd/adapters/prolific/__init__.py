"""Prolific's API, version 1: its client, what its hooks and links sign, and the adapter for stages."""
