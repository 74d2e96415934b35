"""The word proximity network of a corpus and its word vectors (paper 001, section 2.1). No Django."""
