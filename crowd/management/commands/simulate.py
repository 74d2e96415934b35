"""`manage.py simulate`: scripted people work on a stage, through the pages that everybody uses."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db.models import Sum
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from crowd.errors import CrowdError
from crowd.kinds import kind_of
from crowd.models import Hit, Stage
from crowd.simulation.accounts import accounts, accounts_from
from crowd.simulation.answers import MIXES, PROFILES, crowd_of
from crowd.simulation.panel import open_link_to, rehearse_link
from crowd.simulation.run import OUTCOMES, Crowd, Summary, marketplace_source, site_of


class Command(BaseCommand):
    """Parses, lets a crowd work, prints what it did."""

    help = (
        "Let simulated workers do a stage's HITs over HTTP, as people do; marked simulated for ever. "
        f"A mix is {', '.join(MIXES)}, or one profile: {', '.join(PROFILES)}."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Which stage, how many of whom."""
        parser.add_argument("stage", help="PROJECT/STAGE, or the stage's number")
        parser.add_argument("--workers", type=int, default=150, help="how many people (default: 150)")
        parser.add_argument("--mix", choices=[*MIXES, *PROFILES], default="clean", metavar="MIX")
        parser.add_argument("--seed", type=int, default=1, help="the same people, the same answers")
        parser.add_argument("--fast", action="store_true", help="nobody's thinking takes real time")
        parser.add_argument("--threads", type=int, default=8, help="requests at the same time (default: 8)")
        parser.add_argument("--country", default="", help="where the workers live, such as US")
        parser.add_argument("--marketplace-url", default="", help="default: where the stage's endpoint is")
        parser.add_argument("--tokens", type=Path, metavar="FILE", help="workers made elsewhere")
        parser.add_argument("--hits-each", type=int, metavar="N", help="everybody goes home after so many")
        parser.add_argument("--give-back", action="store_true", help="who leaves a HIT gives it back at once")
        parser.add_argument("--no-drafts", action="store_true", help="no page saves what is half done")
        parser.add_argument("--no-tick", action="store_true", help="`manage.py up` publishes and collects")
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the crowd; Ctrl-C sends everybody home."""
        count, stage = options["workers"], _stage(options["stage"])
        if min(count, options["threads"], options["hits_each"] or 1) < 1 or options["hits_each"] == 0:
            raise CommandError("--workers, --threads and --hits-each are at least 1.")
        if marketplace_source(stage).endpoint.deals_work:
            self._rehearse_link(stage, options)
            return
        site = options["marketplace_url"].rstrip("/") or site_of(stage)
        try:
            people = (
                accounts_from(options["tokens"], count)
                if options["tokens"]
                else accounts(site, count, country=options["country"])
            )
            profiles = crowd_of(options["mix"], count, seed=options["seed"])
            if options["give_back"]:
                profiles = [profile.who_gives_back for profile in profiles]
            crowd = Crowd(
                stage,
                profiles,
                people,
                seed=options["seed"],
                site=site,
                threads=options["threads"],
                fast=options["fast"],
                ticking=not options["no_tick"],
                drafts=not options["no_drafts"],
                hits_each=options["hits_each"],
            )
        except CrowdError as error:
            raise CommandError(str(error)) from error
        summary = _watched(crowd, stage, Console(stderr=True, quiet=options["json"]))
        caution = kind_of(stage).simulated_caution(stage)
        if options["json"]:
            self.stdout.write(json.dumps(summary.facts() | {"caution": caution}))
        else:
            console = Console(highlight=False)
            with console.capture() as printed:
                _show(summary, console)
            self.stdout.write(printed.get(), ending="")
            if caution:
                self.stdout.write(caution)

    def _rehearse_link(self, stage: Stage, options: dict[str, Any]) -> None:
        """People without accounts come by the stage's study link, one after the other."""
        link, origin = open_link_to(stage), options["marketplace_url"]
        if link is None:
            raise CommandError(
                f"People come to {stage.title} by a study link, and no open link leads there. Make one on "
                "the project's page Study links. A panel's study is rehearsed with its simulator: "
                "docs/prolific.md."
            )
        if stage.status != Stage.Status.OPEN:
            raise CommandError(f"{stage.title} is not open, so people who come by its link get no task.")
        seed = options["seed"]
        profiles = crowd_of(options["mix"], options["workers"], seed=seed)
        try:
            facts = rehearse_link(link, stage, profiles, seed=seed, origin=origin)
        except CrowdError as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            self.stdout.write(json.dumps(facts))
        else:
            self.stdout.write(
                f"People who came by “{link.title}”: {facts['people']:,}; tasks done: {facts['tasks']:,}; "
                f"people who found nothing to do: {facts['without_a_task']:,}."
            )


def _stage(name: str) -> Stage:
    stages = Stage.objects.select_related("project", "endpoint")
    project, slash, slug = name.rpartition("/")
    matching = (
        stages.filter(project__slug=project, slug=slug).first()
        if slash
        else stages.filter(pk=int(name)).first()
        if name.isdecimal()
        else None
    )
    if matching is None:
        names = ", ".join(f"{stage.project.slug}/{stage.slug}" for stage in stages.order_by("pk")[:20])
        raise CommandError(f"There is no stage {name!r}. There are: {names or 'none'}.")
    return matching


def _watched(crowd: Crowd, stage: Stage, console: Console) -> Summary:
    """Run with a bar; what was done until a Ctrl-C is told as well."""
    columns = (
        TextColumn("{task.completed:.0f} of {task.total:.0f} assignments"),
        BarColumn(),
        TextColumn("{task.fields[at_work]} at work"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        places = _places(stage)
        task = bar.add_task("", total=places, at_work=0)

        def show(crowd: Crowd) -> None:
            bar.update(task, completed=crowd.summary.outcomes["submitted"], at_work=crowd.at_work)

        try:
            return crowd.run(progress=show)
        except KeyboardInterrupt:
            return crowd.summary


def _places(stage: Stage) -> int:
    places = Hit.objects.filter(stage=stage).aggregate(places=Sum("places"))["places"]
    return int(places or 0)


def _show(summary: Summary, console: Console) -> None:
    table = Table("", "", box=None, show_header=False)
    table.add_row("people", str(summary.people))
    table.add_row("", ", ".join(f"{count} {name}" for name, count in summary.profiles.items()))
    for outcome in OUTCOMES:
        if summary.outcomes[outcome] or outcome != "elsewhere":
            table.add_row(outcome, str(summary.outcomes[outcome]))
    table.add_row("seconds", f"{summary.seconds:.1f}")
    table.add_row("assignments per second", f"{summary.per_second:.1f}")
    for why, count in summary.went_home.items():
        table.add_row("went home", f"{count}: {why}")
    for trouble in summary.troubles:
        table.add_row("trouble", trouble)
    console.print(table)
