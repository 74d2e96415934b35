"""What can be wrong with an evaluation."""


class EvaluationError(Exception):
    """Why something cannot be evaluated, in a sentence for people with file, line, field and remedy."""
