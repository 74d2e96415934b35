"""What would identify a person, found before a release is built."""
