"""A finished campaign of any size, made in bulk: for tests of pages, and for `benchmarks.scale`."""
