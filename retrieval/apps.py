"""The retrieval app."""

from django.apps import AppConfig


class RetrievalConfig(AppConfig):
    """Corpora and indexes."""

    name = "retrieval"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Make this app's actions of the event log known; their module needs the models."""
        from core.projects.services import know_actions  # noqa: PLC0415

        know_actions(
            {
                "corpus.created": "made a corpus",
                "corpus.removed": "removed a corpus",
                "network.built": "built a word proximity network",
                "passages.added": "added passages",
                "passages.removed": "removed passages",
            }
        )
