"""The part of the queue service's protocol that a poller of notifications needs."""
