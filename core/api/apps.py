"""The API's own rows as a Django app."""

from typing import Any

from django.apps import AppConfig


class ApiConfig(AppConfig):
    """Tokens and idempotency keys."""

    name = "core.api"
    label = "api"

    def ready(self) -> None:
        """Tokens end with a person's sessions."""
        # The models are not loaded before.
        from core.accounts.security import credentials_ended

        credentials_ended.connect(_end_tokens, dispatch_uid="api.end_tokens")


def _end_tokens(user: Any, **_: Any) -> None:
    from core.api.tokens import end_tokens_of

    end_tokens_of(user)
