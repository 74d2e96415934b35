"""`manage.py wpn`: word proximity networks of corpora."""

import json
import os
from argparse import ArgumentParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError
from rich.table import Table

from core.projects.models import Project
from retrieval.copies import network_of
from retrieval.errors import NoNetworkError, RetrievalError
from retrieval.management.commands.corpus import watched_steps, write_table
from retrieval.models import Corpus, WordNetwork
from retrieval.network.network import associated_words, similar_words
from retrieval.selectors import corpora_of, corpus_called, is_building
from retrieval.services.corpora import counting_passages
from retrieval.services.networks import Options, build_network
from retrieval.services.sharding import over_workers, together

if TYPE_CHECKING:
    from retrieval.network import Network

_NONE = "There is no corpus yet. Add one: manage.py corpus add PROJECT FILE"
_ALPHAS = (0.6, 0.7, 0.75, 0.8, 0.9)


class Command(BaseCommand):
    """Parses, calls a service, prints."""

    help = "Word proximity networks, which CROWN scores with: build, status, neighbours, calibrate."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """build, status, neighbours, calibrate."""
        commands = parser.add_subparsers(dest="what", required=True)
        build = commands.add_parser("build", help="bring the networks up to date")
        build.add_argument("--anew", action="store_true", help="make them from nothing")
        build.add_argument(
            "--min-count",
            type=int,
            metavar="N",
            help="leave out pairs in fewer passages (default: 1, all stay; crown-2020 wants that)",
        )
        build.add_argument(
            "--vectors",
            metavar="FILE",
            help="word vectors: word2vec, GloVe or fastText (default: own, from its own counts)",
        )
        build.add_argument(
            "--processes", type=int, default=_processors(), metavar="N", help="that count (default: all)"
        )
        build.add_argument(
            "--shards", type=int, metavar="N", help="count in N durable jobs, with the workers that run"
        )
        build.set_defaults(run=self.build)
        status = commands.add_parser("status", help="what each network holds")
        status.set_defaults(run=self.status)
        near = commands.add_parser(
            "neighbours", help="words that are similar to words, or stand next to them"
        )
        near.set_defaults(run=self.neighbours)
        calibrate = commands.add_parser("calibrate", help="the node threshold for a number of neighbours")
        calibrate.add_argument("--target", type=float, default=5.0, help="neighbours per word (default: 5)")
        calibrate.set_defaults(run=self.calibrate)
        for each in (build, status):
            each.add_argument("corpus", metavar="PROJECT[/SLUG]", help="all corpora of a project, or one")
        for each in (near, calibrate):
            each.add_argument("corpus", metavar="PROJECT/SLUG")
        near.add_argument("words", nargs="+", metavar="WORD")
        near.add_argument("-k", type=int, default=10, help="how many for each (default: 10)")
        for each in (build, status, near, calibrate):
            each.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the sub-command; an error of the app becomes the command's."""
        try:
            options["run"](_corpora(options["corpus"]), options)
        except RetrievalError as error:
            raise CommandError(str(error)) from error

    def build(self, corpora: list[Corpus], options: dict[str, Any]) -> None:
        """wpn build PROJECT[/SLUG]."""
        if not corpora:
            raise CommandError(_NONE)
        if options["processes"] < 1 or (options["min_count"] is not None and options["min_count"] < 1):
            raise CommandError("--processes and --min-count are at least 1.")
        if options["shards"] is not None and options["shards"] < 1:
            raise CommandError("--shards is at least 1.")
        counter = over_workers(options["shards"]) if options["shards"] else together(options["processes"])
        facts = []
        for corpus in corpora:
            total = counting_passages(corpus).count()
            with watched_steps(corpus.slug, total, quiet=options["json"]) as progress:
                built = build_network(
                    corpus=corpus,
                    anew=options["anew"],
                    options=_options(corpus, options),
                    counter=counter,
                    progress=progress,
                )
            facts.append({"corpus": corpus.slug, **vars(built)})
            if not options["json"]:
                why = f" Built anew: {built.reason.removesuffix('.')}." if built.reason else ""
                self.stdout.write(
                    f"{corpus.slug}: {built.added:,} passages counted, {built.removed:,} taken off; "
                    f"{built.passages:,} passages, {built.words:,} words, {built.edges:,} pairs.{why}"
                )
        if options["json"]:
            self.stdout.write(json.dumps(facts))

    def status(self, corpora: list[Corpus], options: dict[str, Any]) -> None:
        """wpn status PROJECT[/SLUG]."""
        table = Table("corpus", "network", "generation", "passages", "words", "pairs", "built (UTC)", "note")
        facts = []
        for corpus in corpora:
            row = WordNetwork.objects.filter(corpus=corpus).first() or WordNetwork(state="none")
            is_held = is_building(corpus)
            broken_off = row.state == WordNetwork.State.BUILDING and not is_held
            facts.append(
                {
                    "corpus": corpus.slug,
                    "state": "broken off" if broken_off else str(row.state),
                    "generation": row.generation,
                    "passages": row.passages,
                    "words": row.words,
                    "pairs": row.edges,
                    "built_at": row.built_at.strftime("%Y-%m-%d %H:%M:%S") if row.built_at else "never",
                    "note": row.note,
                }
            )
            table.add_row(
                *(f"{value:,}" if isinstance(value, int) else str(value) for value in facts[-1].values())
            )
        if options["json"]:
            self.stdout.write(json.dumps(facts))
        else:
            write_table(self, table, _NONE)

    def neighbours(self, corpora: list[Corpus], options: dict[str, Any]) -> None:
        """wpn neighbours PROJECT/SLUG WORD…."""

        network, k = _network(corpora), options["k"]
        facts = {
            word: {
                "similar": [near._asdict() for near in similar_words(network, word.lower(), k)],
                "next_to": [near._asdict() for near in associated_words(network, word.lower(), k)],
            }
            for word in options["words"]
        }
        if options["json"]:
            self.stdout.write(json.dumps(facts, ensure_ascii=False))
            return
        for word, neighbours in facts.items():
            table = Table("similar", "cosine", "next to it", "NPMI", "passages", title=word)
            for place in range(max(map(len, neighbours.values()))):
                similar, near = (neighbours[name][place : place + 1] for name in ("similar", "next_to"))
                table.add_row(
                    *([similar[0]["word"], f"{similar[0]['cosine']:.3f}"] if similar else ["", ""]),
                    *(
                        [near[0]["word"], f"{near[0]['npmi']:.3f}", f"{near[0]['passages']:,}"]
                        if near
                        else ["", "", ""]
                    ),
                )
            write_table(self, table, f"The network knows no neighbours of {word!r}.")

    def calibrate(self, corpora: list[Corpus], options: dict[str, Any]) -> None:
        """wpn calibrate PROJECT/SLUG."""
        network, target = _network(corpora), options["target"]
        if not target > 0:
            raise CommandError("--target is a number above 0.")
        alpha = network.alpha_for(target)
        facts = {
            "alpha": alpha,
            "neighbours": network.neighbours(alpha),
            "neighbours_at": {str(each): network.neighbours(each) for each in _ALPHAS},
        }
        if options["json"]:
            self.stdout.write(json.dumps(facts))
            return
        table = Table("node threshold", "neighbours per word")
        for each in _ALPHAS:
            table.add_row(f"{each:.2f}", f"{network.neighbours(each):.2f}")
        write_table(self, table, "")
        self.stdout.write(
            f"With a node threshold of {alpha:.2f}, common words have {facts['neighbours']:.2f} neighbours."
        )


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _corpora(name: str) -> list[Corpus]:
    """All corpora of PROJECT, or the one of PROJECT/SLUG, or of SLUG alone where no project is called so."""
    project = Project.objects.filter(slug=name).first()
    return [corpus_called(name)] if project is None else list(corpora_of(project))


def _network(corpora: list[Corpus]) -> "Network":
    if len(corpora) != 1:
        raise CommandError("Name one corpus as PROJECT/SLUG.")
    network = network_of(corpora[0])
    if network is None:
        raise NoNetworkError("There is no word proximity network yet. Run manage.py wpn build.")
    return network


def _options(corpus: Corpus, options: dict[str, Any]) -> Options | None:
    """What was asked for, over what the network was built with before; None where nothing was."""
    if options["min_count"] is None and options["vectors"] is None:
        return None
    row = WordNetwork.objects.filter(corpus=corpus).first()
    before = Options.of(row.options if row else {})
    vectors = before.vectors
    if options["vectors"] is not None:
        vectors = None if options["vectors"] == "own" else Path(options["vectors"]).absolute()
    return Options(before.least_count if options["min_count"] is None else options["min_count"], vectors)
