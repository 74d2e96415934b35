"""The worker site: finding and doing work, the account, payment, qualifications, and what became of it."""
