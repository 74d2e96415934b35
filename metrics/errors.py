"""What can be wrong with what this room is asked."""


class MetricError(Exception):
    """A request that cannot be fulfilled, in a sentence for people: what is wrong, and the remedy."""
