"""What tells people and programs what a release is: data card, Croissant, citation."""
