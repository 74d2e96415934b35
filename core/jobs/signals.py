"""What other parts may want to hear of."""

from django.dispatch import Signal

#: An attempt at a job ended. Arguments: kind; outcome (done, failed, released, lost); seconds.
attempt_ended = Signal()
