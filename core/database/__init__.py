"""Rows in bulk, and queries whose SQL is composed once."""
