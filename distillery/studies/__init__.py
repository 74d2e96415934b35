"""A study from one file: `distillery judge`, `distillery collect` and `distillery results`."""
