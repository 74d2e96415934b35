"""From answers of systems to human correctness scores: candidates, judging, filters, agreement."""
