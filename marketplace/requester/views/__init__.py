"""Pages of the requester site, a module per place of its sidebar."""
