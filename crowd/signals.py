"""What other parts may want to hear of."""

from django.dispatch import Signal

#: A round of an endpoint ended. Arguments: endpoint (its name); outcome (`EndpointRound.Outcome`); seconds.
round_ended = Signal()
