"""Tags of this room's templates."""
