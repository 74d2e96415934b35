"""Question answering sets as published, read as examples for a keyphrase predictor."""
