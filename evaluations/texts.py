"""Words for people about evaluations."""

from evaluations.models import Evaluation

_STATES = {
    Evaluation.State.PLANNED: "Waiting",
    Evaluation.State.RUNNING: "Running",
    Evaluation.State.READY: "Ready",
    Evaluation.State.FAILED: "Failed",
    Evaluation.State.CANCELLED: "Cancelled",
}


def state_of(evaluation: Evaluation) -> str:
    """Its state in a word."""
    return _STATES[Evaluation.State(evaluation.state)]


def name_of(evaluation: Evaluation) -> str:
    """How it is called where no title stands."""
    return evaluation.title or f"Evaluation {evaluation.number} of release {evaluation.release.version}"
