"""Pages of the desk about evaluations."""
