"""Filters for this room's templates."""
