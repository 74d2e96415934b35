"""Signals of webhooks, sent inside the transaction of what happened."""

from django.dispatch import Signal

#: A webhook was made or changed. Arguments: hook, its row; what: made, changed, paused, removed …
webhook_changed = Signal()
