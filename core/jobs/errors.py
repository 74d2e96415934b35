"""What can go wrong with a job, and whether this worker process was asked to stop.

JobError
├── PermanentError   trying again cannot help: the job fails at once
├── LeaseLostError   the job belongs to another worker by now: nothing of this attempt may count
└── StoppingError    this worker is stopping: the job goes back to the queue, the attempt not counted
"""

import threading


class JobError(Exception):
    """Something about one job."""

    permanent = False


class PermanentError(JobError):
    """A handler raises this when another attempt cannot help; the message is for people."""

    permanent = True


class LeaseLostError(JobError):
    """The lease of this attempt ran out and another worker may have the job."""


class StoppingError(JobError):
    """The worker process was asked to stop while the job ran."""


#: The process was asked to stop; jobs see it when they next report progress. It lies here, in a module that
#: needs no models, because the worker's pool of threads asks too, before Django is ready.
stopping = threading.Event()
