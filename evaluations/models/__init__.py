"""Evaluations of releases, scores from elsewhere, and parts of work that wait for a worker."""

from evaluations.models.evaluations import Evaluation, FrozenError
from evaluations.models.external import ExternalScores
from evaluations.models.parts import Call, Part

__all__ = ["Call", "Evaluation", "ExternalScores", "FrozenError", "Part"]
