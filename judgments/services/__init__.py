"""What changes candidates, judgments and filter runs."""
