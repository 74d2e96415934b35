"""CloudResearch Connect: its client and the adapter for stages. The contract is from third parties.

The vendor's own reference could not be read: what is here follows a public third-party client of 2024 and
public scripts of 2026. Nothing was tried with Connect itself.
"""
