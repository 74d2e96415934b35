"""The audit log: what is done in projects and for requesters, chained by digests so that a gap is seen."""
