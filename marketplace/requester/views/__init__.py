"""Pages of the requester site, one module per place of its sidebar."""
