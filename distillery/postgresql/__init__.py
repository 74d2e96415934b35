"""PostgreSQL as the database of many short requests: see `base`."""
