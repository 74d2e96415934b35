"""`manage.py corpus`: passages of a project, from files."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from rich.console import Console
from rich.table import Table

from projects.models import Project
from retrieval.errors import RetrievalError
from retrieval.management.progress import watched_bytes
from retrieval.models import Corpus
from retrieval.reading import FORMATS, open_passages
from retrieval.selectors import corpora_of, corpus_facts, corpus_named
from retrieval.services.corpora import add_passages, create_corpus, remove_corpus, slug_for


class Command(BaseCommand):
    """Parses, calls a service, prints."""

    help = "Corpora of a project: add passages from a file, list them, remove one."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """add, list, remove."""
        commands = parser.add_subparsers(dest="what", required=True)
        add = commands.add_parser("add", help="add the passages of a file; the corpus is made if need be")
        add.add_argument("project")
        add.add_argument("file", type=Path, help="JSONL, CSV or TSV with id and text; plain or gzip")
        add.add_argument("--slug", default="", help="the corpus (default: the file's name)")
        add.add_argument("--title", default="")
        add.add_argument("--language", default="", help="BCP 47 tag (default: the project's)")
        add.add_argument("--licence", default="", help="of the passages, such as CC BY 4.0")
        add.add_argument("--attribution", default="", help="whom the licence wants named")
        add.add_argument("--format", choices=FORMATS, default="auto")
        add.add_argument("--json", action="store_true")
        add.set_defaults(run=self.add)
        listed = commands.add_parser("list", help="corpora with their passages and indexes")
        listed.add_argument("project")
        listed.add_argument("--json", action="store_true")
        listed.set_defaults(run=self.list)
        remove = commands.add_parser("remove", help="remove a corpus, its passages and its index")
        remove.add_argument("project")
        remove.add_argument("slug")
        remove.set_defaults(run=self.remove)

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the sub-command; an error of the room becomes the command's."""
        try:
            options["run"](project_named(options["project"]), options)
        except RetrievalError as error:
            raise CommandError(str(error)) from error

    def add(self, project: Project, options: dict[str, Any]) -> None:
        """corpus add PROJECT FILE."""
        file = open_passages(options["file"], options["format"])
        slug = options["slug"] or slug_for(options["file"].name)
        corpus = corpora_of(project).filter(slug=slug).first()
        made = corpus is None
        about = {name: options[name] for name in ("title", "language", "licence", "attribution")}
        if corpus is None:
            corpus = create_corpus(project=project, slug=slug, **about)
        elif given := [name for name, value in about.items() if value and value != getattr(corpus, name)]:
            raise CommandError(
                f"{slug!r} is there already; leave out --{' and --'.join(given)} to add to it."
            )
        try:
            with watched_bytes(file.bytes_total, quiet=options["json"]) as progress:
                added = add_passages(corpus=corpus, file=file, progress=progress)
        except BaseException:
            if made:
                remove_corpus(corpus=corpus)
            raise
        if options["json"]:
            self.stdout.write(json.dumps({"corpus": slug, "added": added}))
        else:
            self.stdout.write(f"{added:,} passages added to {project.slug}/{slug}.")
            self.stdout.write(f"Next: manage.py index build {project.slug}")

    def list(self, project: Project, options: dict[str, Any]) -> None:
        """corpus list PROJECT."""
        facts = corpus_facts(project)
        if options["json"]:
            self.stdout.write(json.dumps([_fact(each.corpus, each.passages) for each in facts]))
            return
        table = Table("corpus", "title", "language", "passages", "licence", "index")
        for each in facts:
            of = each.corpus
            state = "being worked on" if each.building else str(of.index.state)
            table.add_row(of.slug, of.title, of.language, f"{each.passages:,}", of.licence, state)
        write_table(self, table, "There is no corpus yet. Add one: manage.py corpus add PROJECT FILE")

    def remove(self, project: Project, options: dict[str, Any]) -> None:
        """corpus remove PROJECT SLUG."""
        remove_corpus(corpus=corpus_named(project, options["slug"]))
        self.stdout.write(f"{project.slug}/{options['slug']} is removed. Candidates made of it stay.")


def project_named(slug: str) -> Project:
    """The project, or a CommandError in words."""
    found = Project.objects.filter(slug=slug).first()
    if found is None:
        raise CommandError(f"There is no project {slug!r}.")
    return found


def write_table(command: BaseCommand, table: Table, empty: str) -> None:
    """Print a table, or what to do when it has no rows."""
    if not table.row_count:
        command.stdout.write(empty)
        return
    console = Console(highlight=False)
    with console.capture() as words:
        console.print(table)
    command.stdout.write(words.get(), ending="")


def _fact(corpus: Corpus, passages: int) -> dict[str, object]:
    return {
        "corpus": corpus.slug,
        "title": corpus.title,
        "language": corpus.language,
        "licence": corpus.licence,
        "passages": passages,
        "index": corpus.index.state,
    }
