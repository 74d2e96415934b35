"""`manage.py hold-out`: set answers of some people per query aside as the candidate system `human`."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.services.review_decisions import draw
from core.projects.models import Project
from crowd.errors import CrowdError


class Command(BaseCommand):
    """Parses, draws, prints what was drawn."""

    help = (
        "Hold the answers of some people out of every query that has all its answers, as the candidate "
        "system human. A query is drawn for once; the same seed draws the same people."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Which project, how many people, which seed."""
        parser.add_argument("project", help="the project's short name")
        parser.add_argument("--people", type=int, required=True, help="people per query")
        parser.add_argument("--seed", type=int, required=True, help="the same seed, the same people")

    def handle(self, *args: Any, **options: Any) -> None:
        """Draw."""
        project = Project.objects.filter(slug=options["project"]).first()
        if project is None:
            raise CommandError(f"There is no project {options['project']!r}.")
        try:
            counts = draw(project=project, people=options["people"], seed=options["seed"])
        except CrowdError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(
            f"Held out {options['people']} per query. Queries: {counts.queries:,}; with too few answers: "
            f"{counts.too_few:,}."
        )
