"""Training of metrics that learn (ADEM, KPQA), for the commands train-adem and train-kpqa."""

from metrics.errors import MetricError
from metrics.neural import describe_missing

#: What training imports, by the names of the modules: the extra `training` of pyproject.toml.
PACKAGES = ("ijson", "sentence_transformers", "torch", "transformers")


def require_packages(command: str) -> None:
    """MetricError, naming the extra, where a command of training cannot run here."""
    if why := describe_missing(PACKAGES, extra="training"):
        raise MetricError(f"{command} needs packages that are not there: {why}.")
