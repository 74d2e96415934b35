"""SQLite as a database that many threads and processes write to: see `base`."""
