"""People from outside: study links, consent, guests without a password, and what became of each visit."""
