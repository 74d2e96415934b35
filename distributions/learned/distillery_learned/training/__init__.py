"""Training of metrics that learn (ADEM, KPQA), for the commands train-adem and train-kpqa."""

from distillery_learned.metrics import describe_missing
from metrics.errors import MetricError

#: What training imports, by the names of the modules.
PACKAGES = ("ijson", "sentence_transformers", "torch", "transformers")


def require_packages(command: str) -> None:
    """MetricError, naming what is not installed, where a command of training cannot run here."""
    if why := describe_missing(PACKAGES):
        raise MetricError(f"{command} needs packages that are not there: {why}.")
