"""`manage.py index`: build the indexes of a project, look at them, search in them."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from rich.markup import escape
from rich.table import Table

from core.projects.models import Project
from metrics.figure import counted
from retrieval.errors import RetrievalError
from retrieval.management.commands.corpus import project_named, watched_passages, write_table
from retrieval.search import FoundAnswer, FoundPassage, search_conversation
from retrieval.selectors import corpora_of, corpus_facts, corpus_named
from retrieval.services.indexing import build_index

_SHOWN = 160


class Command(BaseCommand):
    """Parses, calls a service, prints."""

    help = "Indexes of a project's corpora: build, status, search."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """build, status, search."""
        commands = parser.add_subparsers(dest="what", required=True)
        build = commands.add_parser("build", help="bring the indexes up to date")
        build.add_argument("--anew", action="store_true", help="make them from nothing")
        build.set_defaults(run=self.build)
        status = commands.add_parser("status", help="what each index holds")
        status.set_defaults(run=self.status)
        find = commands.add_parser("search", help="the best passages for a query")
        find.set_defaults(run=self.search)
        for each in (build, status, find):
            each.add_argument("project")
            each.add_argument("--json", action="store_true")
        find.add_argument("query", help="the question, or the last one of a conversation")
        find.add_argument(
            "--turn",
            action="append",
            default=[],
            metavar="TEXT",
            help="an earlier turn; again for each, oldest first",
        )
        find.add_argument(
            "--ranker",
            default="",
            metavar="SYSTEM",
            help="bm25, crown-2020, balanced:cq3, … (default: balanced)",
        )
        find.add_argument("-k", type=int, default=10, help="how many (default: 10)")
        for each in (build, find):
            each.add_argument("--corpus", default="", metavar="SLUG", help="only this one (default: all)")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the sub-command; an error of the app becomes the command's."""
        try:
            options["run"](project_named(options["project"]), options)
        except RetrievalError as error:
            raise CommandError(str(error)) from error

    def build(self, project: Project, options: dict[str, Any]) -> None:
        """index build PROJECT."""
        slug = options["corpus"]
        corpora = [corpus_named(project, slug)] if slug else list(corpora_of(project))
        if not corpora:
            raise CommandError(f"{project.slug!r} has no corpus. Add one: manage.py corpus add PROJECT FILE")
        facts = []
        for corpus in corpora:
            with watched_passages(corpus.slug, 0, quiet=options["json"]) as progress:
                built = build_index(corpus=corpus, anew=options["anew"], progress=progress)
            facts.append({"corpus": corpus.slug, "added": built.added, "passages": built.passages})
            if not options["json"]:
                why = f" Built anew: {built.reason.removesuffix('.')}." if built.reason else ""
                added = counted(built.added, "passage")
                self.stdout.write(f"{corpus.slug}: {added} added, {built.passages:,} in the index.{why}")
        if options["json"]:
            self.stdout.write(json.dumps(facts))

    def status(self, project: Project, options: dict[str, Any]) -> None:
        """index status PROJECT."""
        table = Table(
            "corpus", "index", "engine", "generation", "in the index", "in the corpus", "built (UTC)", "note"
        )
        facts = []
        for each in corpus_facts(project):
            index = each.corpus.index
            state = index.state
            if state == index.State.BUILDING and not each.building:
                state = "broken off"
            built = index.built_at.strftime("%Y-%m-%d %H:%M:%S") if index.built_at else "never"
            facts.append(
                {
                    "corpus": each.corpus.slug,
                    "state": str(state),
                    "engine": index.engine,
                    "generation": index.generation,
                    "indexed": index.passages,
                    "passages": each.passages,
                    "built_at": built,
                    "note": index.note,
                }
            )
            table.add_row(
                *(f"{value:,}" if isinstance(value, int) else str(value) for value in facts[-1].values())
            )
        if options["json"]:
            self.stdout.write(json.dumps(facts))
        else:
            write_table(self, table, "There is no corpus yet. Add one: manage.py corpus add PROJECT FILE")

    def search(self, project: Project, options: dict[str, Any]) -> None:
        """index search PROJECT QUERY."""
        if options["k"] < 1:
            raise CommandError("-k is at least 1.")
        slug = options["corpus"]
        where = [corpus_named(project, slug)] if slug else project
        answer = search_conversation(
            where,
            [*options["turn"], options["query"]],
            ranker=options["ranker"],
            results=options["k"],
            explain=False,
        )
        for note in answer.notes:
            self.stderr.write(_plain(note))
        if options["json"]:
            self.stdout.write(
                json.dumps([_facts(answer, each) for each in answer.results], ensure_ascii=False)
            )
            return
        table = Table("", "score", "passage", "text")
        for hit in answer.results:
            text = " ".join(hit.passage.text.split())
            excerpt = text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
            table.add_row(
                str(hit.rank), f"{hit.score:.3f}", _plain(f"{hit.corpus}/{hit.passage.key}"), _plain(excerpt)
            )
        write_table(self, table, "Nothing is found.")


def _facts(answer: FoundAnswer, hit: FoundPassage) -> dict[str, Any]:
    return {
        "rank": hit.rank,
        "score": hit.score,
        "corpus": hit.corpus,
        "id": hit.passage.key,
        "text": hit.passage.text,
        "ranker": answer.ranker,
        "parts": dict(hit.parts),
    }


def _plain(text: str) -> str:
    """Text of strangers for a terminal: no control characters, no markup of rich."""
    return escape("".join(character if character.isprintable() else " " for character in text))
