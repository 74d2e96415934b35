"""Review policies: what a requester lets the marketplace decide about submitted work."""
