"""`manage.py paper`, where `distributions/learned` is not installed."""

from core.accounts.commandline import AbsentCommand


class Command(AbsentCommand):
    """Names the package."""

    folder = "learned"
