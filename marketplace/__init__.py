"""A crowd marketplace that speaks the MTurk requester protocol, with its own worker site, ledger and clock."""
