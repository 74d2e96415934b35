"""What can be wrong with what this app is asked."""


class MetricError(Exception):
    """A request that cannot be fulfilled, in a sentence for people: what is wrong, and the remedy."""
