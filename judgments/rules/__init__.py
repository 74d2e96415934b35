"""Pure rules of judging: no database, the same result for the same seed."""
