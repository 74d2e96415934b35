"""A value that only the right key opens."""

from django.db import models


class Canary(models.Model):
    """One row, sealed with the SECRET_KEY of this database: a host with another key must not start."""

    value_sealed = models.TextField()

    def __str__(self) -> str:
        return "canary"
