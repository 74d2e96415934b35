"""What is read of candidates, judgments and workers."""
