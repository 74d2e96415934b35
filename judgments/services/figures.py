"""All figures of the honest report of a stage, from its columns; nothing is stored here."""
