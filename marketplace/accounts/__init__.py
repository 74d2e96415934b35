"""People and keys: requesters, workers, access keys, letters, the end of an account."""
