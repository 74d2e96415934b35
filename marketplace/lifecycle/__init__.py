"""HITs from their making to their end: offered, accepted, submitted, reviewed, expired."""
