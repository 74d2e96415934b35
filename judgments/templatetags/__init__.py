"""Filters for this app's templates."""
