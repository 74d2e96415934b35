"""The jobs room as a Django app."""

from django.apps import AppConfig


class JobsConfig(AppConfig):
    """Durable jobs."""

    name = "jobs"
