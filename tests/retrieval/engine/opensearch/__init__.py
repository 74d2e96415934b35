"""A server over HTTP that keeps to OpenSearch's published REST contract, as far as the engine uses it."""
