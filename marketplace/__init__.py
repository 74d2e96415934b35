"""A crowd marketplace that speaks the MTurk requester protocol, with worker site, ledger and clock."""
