"""How long this process waits for a bucket: a visitor of the web server less than a job or a command."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BucketTimeouts:
    """Seconds until a connection is made and until the next bytes of an answer, and how often it is tried.

    botocore alone would wait a minute for each, five times.
    """

    connect: float
    read: float
    attempts: int


PATIENT = BucketTimeouts(connect=5, read=60, attempts=3)
#: A hanging bucket holds a thread of the web server for 26 seconds at most, not for three minutes.
OF_PAGES = BucketTimeouts(connect=3, read=10, attempts=2)
_chosen = PATIENT


def choose_timeouts(timeouts: BucketTimeouts) -> None:
    """Have this process wait so long, from its next storage on."""
    global _chosen  # noqa: PLW0603 - one choice for a whole process, as its start makes it
    _chosen = timeouts


def bucket_timeouts() -> BucketTimeouts:
    """What was chosen; without a choice a command or job waits."""
    return _chosen
