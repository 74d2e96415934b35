"""What the pages show, read in a fixed number of queries each."""
