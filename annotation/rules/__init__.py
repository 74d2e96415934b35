"""Rules that turn what people said into decisions: pure functions, no database."""
