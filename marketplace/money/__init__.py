"""Money: the ledger, payees, reports and invoices, and the files that pay people."""
