"""What is read of queries, passages and answers."""
