"""`manage.py corpus`: passages of a project, from files; and the bars that commands of this app show."""

import json
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from core.errors import on_failure
from core.files.refusals import sum_in_words
from core.files.tables import DELIMITERS
from core.projects.models import Project
from metrics.figure import counted
from retrieval.errors import RetrievalError
from retrieval.models import Corpus
from retrieval.passage_files import FORMATS, Layout, open_passages, read_as
from retrieval.passage_formats import NAMES
from retrieval.selectors import corpora_of, corpus_facts, corpus_named
from retrieval.sentences import LARGEST, WindowOptions
from retrieval.services import corpora
from retrieval.services.repeats import POLICIES, SAME_ID, Repeat


@contextmanager
def watched_bytes(total: int, *, quiet: bool) -> Iterator[Callable[[int, int], None]]:
    """A bar over the bytes of a file, with the passages so far beside it."""
    with _bar(quiet) as bar:
        task = bar.add_task("reading", total=total, words="")

        def progress(passages: int, bytes: int) -> None:
            bar.update(task, completed=bytes, words=f"{passages:,} passages")

        yield progress


@contextmanager
def watched_passages(name: str, total: int, *, quiet: bool) -> Iterator[Callable[[int], None]]:
    """A bar over passages."""
    with _bar(quiet) as bar:
        task = bar.add_task(name, total=total or None, words="")

        def progress(passages: int) -> None:
            bar.update(task, completed=passages, words=f"{passages:,} passages")

        yield progress


@contextmanager
def watched_steps(name: str, total: int, *, quiet: bool) -> Iterator[Callable[[str, int], None]]:
    """A bar over passages, with what is being done in words before it."""
    with _bar(quiet) as bar:
        task = bar.add_task(name, total=total or None, words="")

        def progress(step: str, passages: int) -> None:
            bar.update(
                task, completed=passages, description=f"{name}: {step}", words=f"{passages:,} passages"
            )

        yield progress


def _bar(quiet: bool) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[words]}"),
        TimeElapsedColumn(),
        console=Console(stderr=True, quiet=quiet),
    )


class Command(BaseCommand):
    """Parses, calls a service, prints."""

    help = "Corpora of a project: add passages from a file, delete some, list corpora, remove one."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """add, delete, list, remove."""
        commands = parser.add_subparsers(dest="what", required=True)
        add = commands.add_parser("add", help="add the passages of a file; the corpus is made if need be")
        add.add_argument("project")
        add.add_argument(
            "file", type=Path, help="JSONL, CSV, TSV, Parquet, MS MARCO or TREC CAR; plain or packed"
        )
        add.add_argument("--slug", default="", help="the corpus (default: the file's name)")
        add.add_argument("--title", default="")
        add.add_argument("--language", default="", help="BCP 47 tag (default: the project's)")
        add.add_argument("--licence", default="", help="of the passages, such as CC BY 4.0")
        add.add_argument("--attribution", default="", help="whom the licence wants named")
        add.add_argument("--format", choices=FORMATS, default="auto")
        add.add_argument(
            "--column",
            action="append",
            default=[],
            metavar="FIELD=NAME",
            help=f"which column holds {', '.join(NAMES)}; FIELD= for none, id= to number the passages",
        )
        add.add_argument("--encoding", default="", help="of the text (default: found out)")
        add.add_argument("--delimiter", default="", choices=["", *DELIMITERS], help="of a CSV file")
        add.add_argument("--sheet", default="", help="of a workbook (default: the first with data)")
        _add_options(add)
        add.add_argument("--json", action="store_true")
        add.set_defaults(run=self.add)
        delete = commands.add_parser("delete", help="delete passages by their ids, from the index too")
        delete.add_argument("project")
        delete.add_argument("slug")
        delete.add_argument("--ids", type=Path, required=True, metavar="FILE", help="one id in each line")
        delete.add_argument("--json", action="store_true")
        delete.set_defaults(run=self.delete)
        list_parser = commands.add_parser("list", help="corpora with their passages and indexes")
        list_parser.add_argument("project")
        list_parser.add_argument("--json", action="store_true")
        list_parser.set_defaults(run=self.list)
        remove = commands.add_parser("remove", help="remove a corpus, its passages and its index")
        remove.add_argument("project")
        remove.add_argument("slug")
        remove.set_defaults(run=self.remove)

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the sub-command; an error of the app becomes the command's."""
        try:
            options["run"](project_named(options["project"]), options)
        except RetrievalError as error:
            raise CommandError(str(error)) from error

    def add(self, project: Project, options: dict[str, Any]) -> None:
        """corpus add PROJECT FILE."""
        adding = _adding(options)
        file = open_passages(options["file"], options["format"], layout=_layout(options))
        slug = options["slug"] or corpora.slug_for(options["file"].name)
        corpus = corpora_of(project).filter(slug=slug).first()
        is_new = corpus is None
        about = {name: options[name] for name in ("title", "language", "licence", "attribution")}
        if corpus is None:
            corpus = corpora.create_corpus(project=project, slug=slug, **about)
        elif changed := [name for name, value in about.items() if value and value != getattr(corpus, name)]:
            raise CommandError(
                f"{slug!r} is there already; leave out --{' and --'.join(changed)} to add to it."
            )
        with (
            on_failure(lambda error: corpora.remove_corpus(corpus=corpus) if is_new else None),
            _write_repeats(options["report"]) as report_repeat,
            watched_bytes(file.bytes_total, quiet=options["json"]) as progress,
        ):
            added = corpora.add_file(
                corpus=corpus, file=file, options=adding, progress=progress, report_repeat=report_repeat
            )
        if options["json"]:
            facts = {"corpus": slug, **added.as_dict(), "left_out": adding.repeats == "skip"}
            self.stdout.write(json.dumps(facts | {"read_as": read_as(file)}))
            return
        self.stdout.write(f"{counted(added.passages, 'passage')} added to {project.slug}/{slug}.")
        self.stdout.write(f"Read as {read_as(file)}: {sum_in_words(added.counts.as_json())}.")
        for each in added.identified.examples:
            self.stdout.write(f"  {plain(each)}")
        if added.known:
            self.stdout.write(f"Left out, as the corpus has the id already: {added.known:,}.")
        self._say_repeats(added, left_out=adding.repeats == "skip")
        self.stdout.write(f"Next: manage.py index build {project.slug}")

    def _say_repeats(self, added: corpora.AdditionCounts, *, left_out: bool) -> None:
        if not added.repeats.total:
            return
        ways = {"words": "word for word", "text": "nearly", "region": "by their region of a page"}
        counts = ", ".join(f"{count:,} {ways[way]}" for way, count in added.repeats.counts.items())
        what = "left out" if left_out else "added anyway (leave them out with --duplicates skip)"
        self.stdout.write(f"Repetitions of other passages, {what}: {added.repeats.total:,} ({counts}):")
        for each in added.repeats.examples:
            self.stdout.write(f"  {plain(str(each))}")

    def delete(self, project: Project, options: dict[str, Any]) -> None:
        """corpus delete PROJECT SLUG --ids FILE."""
        corpus = corpus_named(project, options["slug"])
        keys = _ids(options["ids"])
        deleted = corpora.delete_passages(corpus=corpus, keys=keys)
        if options["json"]:
            self.stdout.write(json.dumps({"corpus": corpus.slug, "deleted": deleted, "ids": len(keys)}))
            return
        self.stdout.write(f"{counted(deleted, 'passage')} deleted from {project.slug}/{corpus.slug}.")
        if deleted < len(keys):
            self.stdout.write(f"Ids that are not in it: {len(keys) - deleted:,} of {len(keys):,}.")

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
        corpora.remove_corpus(corpus=corpus_named(project, options["slug"]))
        self.stdout.write(f"{project.slug}/{options['slug']} is removed. Candidates made of it stay.")


def project_named(slug: str) -> Project:
    """The project, or a CommandError in words."""
    project = Project.objects.filter(slug=slug).first()
    if project is None:
        raise CommandError(f"There is no project {slug!r}.")
    return project


def write_table(command: BaseCommand, table: Table, empty: str) -> None:
    """Print a table, or what to do when it has no rows."""
    if not table.row_count:
        command.stdout.write(empty)
        return
    console = Console(highlight=False)
    with console.capture() as capture:
        console.print(table)
    command.stdout.write(capture.get(), ending="")


def plain(text: str) -> str:
    """Text of strangers for a terminal: no control characters."""
    return "".join(character if character.isprintable() else " " for character in text)


def _add_options(add: ArgumentParser) -> None:
    """How documents are split and what is done with repetitions."""
    add.add_argument("--split", type=int, metavar="N", help="documents become passages of N sentences")
    add.add_argument(
        "--stride", type=int, metavar="N", help="the next passage begins N later (default: no overlap)"
    )
    add.add_argument("--by", choices=LARGEST, default="sentences", help="what --split and --stride count")
    add.add_argument(
        "--duplicates",
        choices=POLICIES,
        default="report",
        help="passages of the same words as an earlier one: keep without looking, report, or skip",
    )
    add.add_argument(
        "--near-duplicates",
        type=float,
        metavar="SHARE",
        help="also those with this share of word triples in common, such as 0.8",
    )
    add.add_argument("--report", type=Path, metavar="FILE", help="write every repetition as a line of JSON")
    add.add_argument(
        "--same-id",
        choices=SAME_ID,
        default="refuse",
        help="an id that is there with another text: refuse the file, keep the first, or number them",
    )
    add.add_argument("--skip-known", action="store_true", help="leave out ids that the corpus has already")


def _adding(options: dict[str, Any]) -> corpora.AdditionOptions:
    size, stride = options["split"], options["stride"]
    if size is None and stride is not None:
        raise CommandError("--stride needs --split.")
    if options["report"] and options["duplicates"] == "keep":
        raise CommandError("--report needs --duplicates report or skip.")
    try:
        splitting = (
            None if size is None else WindowOptions(size, size if stride is None else stride, options["by"])
        )
        return corpora.AdditionOptions(
            splitting,
            options["duplicates"],
            options["near_duplicates"],
            options["skip_known"],
            options["same_id"],
        )
    except ValueError as error:
        raise CommandError(str(error)) from error


def _layout(options: dict[str, Any]) -> Layout:
    columns: dict[str, str] = {}
    for each in options["column"]:
        ours, sign, theirs = each.partition("=")
        if not sign or ours not in NAMES:
            raise CommandError(f"--column {each!r} is not FIELD=NAME; fields: {', '.join(NAMES)}.")
        columns[ours] = theirs
    return Layout(columns, options["encoding"], options["delimiter"], options["sheet"])


@contextmanager
def _write_repeats(path: Path | None) -> Iterator[Callable[[Repeat], None]]:
    """Writes repetitions into a file, if there is to be one."""
    if path is None:
        yield lambda repeat: None
        return
    try:
        file = path.open("w", encoding="utf-8")
    except OSError as error:
        raise CommandError(f"{path} cannot be written: {error.strerror}.") from error
    with file:
        yield lambda repeat: print(json.dumps(repeat._asdict(), ensure_ascii=False), file=file)


def _ids(path: Path) -> list[str]:
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise CommandError(f"{path} is no UTF-8 text (byte {error.start + 1}).") from error
    keys = list(dict.fromkeys(key for line in lines if (key := line.strip())))
    if not keys:
        raise CommandError(f"There is no id in {path}.")
    return keys


def _fact(corpus: Corpus, passages: int) -> dict[str, object]:
    return {
        "corpus": corpus.slug,
        "title": corpus.title,
        "language": corpus.language,
        "licence": corpus.licence,
        "passages": passages,
        "index": corpus.index.state,
    }
