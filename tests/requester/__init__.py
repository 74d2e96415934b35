"""Pages of the requester site, and what they do."""
