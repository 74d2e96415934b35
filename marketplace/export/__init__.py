"""Everything that the marketplace keeps about one worker, as files."""
