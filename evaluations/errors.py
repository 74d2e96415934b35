"""What can be wrong with an evaluation."""

from crowd.errors import CrowdError


class EvaluationError(CrowdError):
    """Why something cannot be evaluated, in a sentence for people with file, line, field and remedy."""
