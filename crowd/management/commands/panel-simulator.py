"""`manage.py panel-simulator`, where `distributions/panel-simulator` is not installed."""

from core.accounts.commandline import AbsentCommand


class Command(AbsentCommand):
    """Names the package."""

    folder = "panel-simulator"
