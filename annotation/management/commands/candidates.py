"""`manage.py candidates`: candidate passages for accepted queries that have none."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.candidates import FETCHED, QUERY_MODELS, RANKERS, SHOWN, Recipe
from annotation.selectors.curation import Recall, recall_of
from annotation.services.candidates import CandidateSupply, provide_for
from core.projects.models import Project

_RANGES = {"k": (1, 1000), "candidates": (10, 1000), "below": (0, 10)}
_NAMES = {"k": "-k", "candidates": "--candidates", "below": "--below"}


class Command(BaseCommand):
    """Parses, calls a service, prints."""

    help = "Find candidate passages for the accepted queries of a project that have none."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Which project, how many each, and how they are found."""
        parser.add_argument("project")
        parser.add_argument("-k", type=int, default=SHOWN, help=f"passages of each query (default: {SHOWN})")
        parser.add_argument(
            "--ranker",
            default="balanced",
            help=f"{', '.join(RANKERS)}, or any system such as 'rrf(bm25+balanced)' (default: balanced)",
        )
        parser.add_argument(
            "--query-model",
            choices=QUERY_MODELS,
            default="cq2",
            help="which turns of a conversation are searched for (default: cq2)",
        )
        parser.add_argument(
            "--candidates",
            type=int,
            default=FETCHED,
            help=f"passages fetched and ranked for a query (default: {FETCHED})",
        )
        parser.add_argument(
            "--below", type=int, default=0, help="passages drawn from below the cut, to estimate recall"
        )
        parser.add_argument(
            "--recall", action="store_true", help="find nothing; estimate recall from what editors chose"
        )
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        """Provide them, say how many queries got some."""
        for name, (least, most) in _RANGES.items():
            if not least <= options[name] <= most:
                raise CommandError(f"{_NAMES[name]} is from {least} to {most}.")
        project = Project.objects.filter(slug=options["project"]).first()
        if project is None:
            raise CommandError(f"There is no project {options['project']!r}.")
        if options["recall"]:
            self._recall(recall_of(project), as_json=options["json"])
            return
        recipe = Recipe(
            options["k"], options["ranker"], options["query_model"], options["candidates"], options["below"]
        )
        provided = provide_for(project, recipe)
        if provided.problem:
            raise CommandError(f"Queries that got candidates: {provided.filled:,}. {provided.problem}")
        if options["json"]:
            self.stdout.write(json.dumps(_as_json(provided, recipe)))
            return
        self.stdout.write(f"Queries that got candidates: {provided.filled:,}.")
        for note in provided.notes:
            self.stdout.write(note)
        if provided.empty:
            self.stdout.write(
                f"Queries for which nothing is found: {len(provided.empty):,}. Import passages for them."
            )

    def _recall(self, recall: Recall, *, as_json: bool) -> None:
        if as_json:
            self.stdout.write(json.dumps(recall.as_dict()))
            return
        self.stdout.write(recall.in_words)


def _as_json(provided: CandidateSupply, recipe: Recipe) -> dict[str, Any]:
    return {
        "filled": provided.filled,
        "empty": len(provided.empty),
        "ranker": recipe.ranker,
        "notes": list(provided.notes),
    }
