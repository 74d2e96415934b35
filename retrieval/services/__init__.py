"""What happens to corpora, their passages and their indexes."""
