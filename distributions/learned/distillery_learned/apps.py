"""The app that adds the commands `train-kpqa`, `train-adem` and `paper` and their templates."""

from django.apps import AppConfig


class LearnedConfig(AppConfig):
    """No tables, and no pages of its own."""

    name = "distillery_learned"
    label = "learned"
