"""The requester site: batches, HITs, reviews, workers, money and keys of one requester, in a browser."""
