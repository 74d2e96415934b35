"""What changes queries, passages and answers."""
