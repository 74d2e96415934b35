"""What the pages of a requester read."""
