"""`manage.py candidates`: candidate passages for accepted queries that have none."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.services.candidates import SHOWN, provide_for
from projects.models import Project


class Command(BaseCommand):
    """Parses, calls a service, prints."""

    help = "Find candidate passages for the accepted queries of a project that have none."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Which project, how many each."""
        parser.add_argument("project")
        parser.add_argument("-k", type=int, default=SHOWN, help=f"passages of each query (default: {SHOWN})")
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        """Provide them, say how many queries got some."""
        if options["k"] < 1:
            raise CommandError("-k is at least 1.")
        project = Project.objects.filter(slug=options["project"]).first()
        if project is None:
            raise CommandError(f"There is no project {options['project']!r}.")
        provided = provide_for(project, k=options["k"])
        if provided.problem:
            raise CommandError(f"{provided.filled} queries got candidates. {provided.problem}")
        if options["json"]:
            self.stdout.write(json.dumps({"filled": provided.filled, "empty": len(provided.empty)}))
            return
        self.stdout.write(f"{provided.filled:,} queries got candidates.")
        if provided.empty:
            self.stdout.write(
                f"Nothing is found for {len(provided.empty):,} queries; import passages for them."
            )
