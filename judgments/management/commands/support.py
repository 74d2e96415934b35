"""`manage.py support`: how far cited passages support answers, from labels, without a project."""

from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from typing import Any

from judgments.answer_labels import AnswerReader
from judgments.answer_report import agreement_json, agreement_sentences, mean_text
from judgments.label_table import open_table
from judgments.table_command import TableCommand, bootstrap_options, draw_table, reading_options, sign
from metrics.item_means import mean_by_system
from metrics.support import PROTOCOLS, ais_attribution, alce_support, trec_support

_FIGURES = {
    "ais": ("attributable", "not_interpretable"),
    "alce": ("precision", "recall"),
    "trec": ("precision", "recall"),
}


class Command(TableCommand):
    """Reads labels of sentences and citations, and scores answers and systems."""

    help = (
        "How far the passages that answers cite support them, by AIS, ALCE or TREC's support "
        "(docs/preferences.md)."
    )
    fields = (
        "item", "system", "worker", "sentence", "citation", "label", "interpretable", "attributable",
        "simulated",
    )  # fmt: skip
    metavar = "FILE"

    def add_arguments(self, parser: ArgumentParser) -> None:
        """FILE and its protocol."""
        super().add_arguments(parser)
        parser.add_argument(
            "--protocol", choices=PROTOCOLS, required=True, help="how sentences and citations were judged"
        )

    def measure(self, options: Mapping[str, Any], columns: Mapping[str, str]) -> dict[str, Any]:
        """Means of each system, and the figures of each answer."""
        bootstrap = bootstrap_options(options)
        table = open_table(
            options["file"],
            columns=columns,
            fields=self.fields,
            **reading_options(options),
        )
        reader, protocol = AnswerReader(table, columns, **bootstrap), options["protocol"]
        scores: dict[tuple[str, str], Any]
        if protocol == "ais":
            labelled = reader.read_attributions()
            scores = {answer: ais_attribution(parts) for answer, parts in labelled.parts.items()}
        else:
            cited = reader.read_citations(recall=protocol == "alce")
            score = alce_support if protocol == "alce" else trec_support
            scores = {answer: score(parts) for answer, parts in cited.parts.items()}
            labelled = cited  # type: ignore[assignment]  # of their parts only the number matters from here
        names = _FIGURES[protocol]
        means = {
            name: mean_by_system(
                {answer: getattr(each, name) for answer, each in scores.items()}, **bootstrap
            )
            for name in names
        }
        systems = sorted({system for _, system in scores})
        return {
            "read_as": table.reading(**labelled.columns).as_json(),
            **bootstrap,
            "protocol": protocol,
            "systems": [
                {
                    "system": system,
                    **{name: means[name][system].as_json() for name in names},
                    "n_answers": sum(of == system for _, of in scores),
                }
                for system in systems
            ],
            "items": [
                {
                    "item": item,
                    "system": system,
                    **{name: getattr(each, name) for name in (*names, *_COUNTS) if hasattr(each, name)},
                }
                for (item, system), each in scores.items()
            ],
            "agreement": agreement_json(labelled.agreement),
            "warnings": [*table.notes(), *labelled.notes],
            "signatures": {
                name: sign(f"support|{protocol}|{name}|mean over answers", "items", options) for name in names
            },
        }

    def show(self, facts: Mapping[str, Any]) -> Iterator[Any]:
        """A row for each system."""
        names = _FIGURES[facts["protocol"]]
        yield draw_table(
            ("system", *(name.replace("_", " ") for name in names), "answers"),
            [
                (each["system"], *(mean_text(each[name]) for name in names), f"{each['n_answers']:,}")
                for each in facts["systems"]
            ],
        )
        yield from agreement_sentences(facts["agreement"])


_COUNTS = ("n_sentences", "n_citations")
