"""The requester site in a browser: a module for each place of its sidebar, such as batches, HITs, money."""
