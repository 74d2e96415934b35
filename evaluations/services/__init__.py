"""What may happen to evaluations."""
