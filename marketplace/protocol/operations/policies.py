"""What review policies found and did."""
