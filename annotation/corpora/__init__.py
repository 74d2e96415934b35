"""Corpora on the desk: what there is, files added by upload, index and network built by jobs, one removed."""
