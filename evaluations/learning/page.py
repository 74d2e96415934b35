"""The report on a trained metric as one page that needs nothing else."""

from collections.abc import Mapping
from typing import Any

from django.template.loader import render_to_string

from evaluations.learning import tables
from evaluations.learning.figures import figures_of
from evaluations.learning.tables import Called
from evaluations.report import model
from evaluations.report.model import Report, Value, mapping, number, rows, value
from evaluations.report.page import by_kind, sheet
from evaluations.report.points import Points
from evaluations.report.tables import Cell, Line, Notes, Table, between, labels, p_is, plain, short, whole

_PARTS = {"train": "training", "validation": "validation", "test": "test"}
_LEVEL = 0.05


def page_of(report: Report, points: Mapping[str, Points]) -> str:
    """The page as HTML; the templates escape texts of the data, and figures that are missing say why."""
    return render_to_string("evaluations/learned.html", {**context_of(report, points), "sheet": sheet()})


def context_of(report: Report, points: Mapping[str, Points]) -> dict[str, Any]:
    """The context of `templates/evaluations/learned.html`."""
    report = model.cleaned(report)
    called = {**_titles(report.get("yardsticks")), **labels(report)}
    notes = Notes()
    first, *more = answer(report, called)
    shown = {
        "folds": tables.folds(report, called, notes) if report.get("folds") else [],
        "table3": tables.table3(report, called, notes),
        "table4": tables.table4(report, called, notes),
        "table5": tables.table5(report, notes),
        "table6": tables.table6(report, called),
        "table8": tables.table8(report, called, notes),
        "table14": tables.table14(report, notes),
        "examples": tables.examples(report, called),
        "chosen": _chosen(report, called, notes),
        "made": _tabulate_training(report, called),
    }
    reasons = {
        name: str(mapping(report.get(name)).get("reason") or "")
        for name in ("table4", "table5", "table6", "table14")
    }
    return {
        "report": report,
        "title": plain(report.get("title") or "ADEM"),
        "sentence": first,
        "more": more,
        "figures": by_kind(figures_of(report, points, called)),
        "tables": shown,
        "reasons": reasons,
        "has_tables": "table8" in report,
        "overlap": [called.get(str(name), str(name)) for name in _names(report, "overlap")],
        "bounds": [f"{number(mapping(report.get('table6')).get(name)) or 0:g}" for name in ("low", "high")],
        "counts": _counts(report),
        "facts": _facts(report),
        "alpha": "",
        "notes": list(notes.reasons),
    }


def _titles(given: object) -> dict[str, str]:
    return {str(name): plain(words) for name, words in mapping(given).items()}


def answer(report: Report, called: Called) -> list[str]:
    """One sentence after another, the answer first."""
    lead = str(report.get("lead"))
    if report.get("folds"):
        return _crossed(mapping(report.get("folds")), lead, called)
    found = value(report, "table3", "metrics", lead, "test", "pearson")
    said = [f"{called[lead]} on answers to questions that it has not seen: {_figure(found)}."]
    for other in [*_others(report, lead), "embedding"]:
        beside = value(report, "table3", "metrics", other, "test", "pearson")
        said.append(f"{called.get(other, other)} on the same answers: {_figure(beside)}.")
    return said


def _crossed(found: Mapping[str, Any], lead: str, called: Called) -> list[str]:
    rival = str(found.get("rival"))
    own, other = (value(found, "metrics", name, "pearson") for name in (lead, rival))
    said = [
        f"In {found.get('folds')}-fold cross-validation by question {called[lead]} agrees with people at "
        f"{_figure(own)}; {called.get(rival, 'no metric')}, the best metric that needs no training, at "
        f"{_figure(other)}."
    ]
    for each in rows(found.get("differences")):
        if each.get("statistic") != "pearson":
            continue
        apart, p = value({"it": each}, "it"), number(each.get("p"))
        name = called[str(each.get("a"))]
        if apart.value is None or p is None:
            said.append(f"{name} cannot be compared with it: {apart.reason}.")
            continue
        better = name if apart.value > 0 else called[rival]
        verdict = f"{better} is better" if p < _LEVEL else "no significant difference"
        said.append(f"{name} less {called[rival]}: {_plain(apart)}, {p_is(p)}: {verdict}.")
    return said


def _others(report: Report, lead: str) -> list[str]:
    """The other forms, and the untrained metric that agrees best on the test set."""
    entries = mapping(mapping(report.get("table3")).get("metrics"))
    forms = [name for name, of in entries.items() if of.get("trained") and name != lead]
    values = {
        name: value(of, "test", "pearson").value
        for name, of in entries.items()
        if not of.get("trained") and name != "embedding"
    }
    known = {name: found for name, found in values.items() if found is not None}
    return [*forms, *([max(known, key=lambda name: known[name])] if known else [])]


def _figure(found: Value) -> str:
    if found.value is None:
        return f"no correlation ({found.reason})"
    n = f" over {whole(found.n)} answers" if found.n else ""
    return f"r\u00a0=\u00a0{_plain(found)}{n}"


def _plain(found: Value) -> str:
    ends = f" {between(found.low, found.high)}" if found.low is not None and found.high is not None else ""
    return f"{short(found.value or 0.0)}{ends}"


def _chosen(report: Report, called: Called, notes: Notes) -> Table:
    """What was tried on validation, and what was chosen."""
    lines = []
    for form, of in mapping(report.get("chosen")).items():
        for each in rows(mapping(of).get("tried")):
            taken = all(each.get(name) == of.get(name) for name in ("n", "penalty", "rate"))
            lines.append(
                Line(
                    called.get(form, form),
                    [
                        *(
                            notes.plain(each.get(name))
                            for name in ("n", "penalty", "rate", "epoch", "validation")
                        ),
                        notes.plain(each.get("pearson")),
                        Cell("chosen" if taken else "", words=True),
                    ],
                )
            )
    headings = [
        "Form",
        "n",
        "Penalty",
        "Rate",
        "Epoch",
        "Squared error, validation",
        "Pearson, validation",
        "",
    ]
    return Table("What was tried on validation", headings, lines)


def _tabulate_training(report: Report, called: Called) -> Table:
    lines = [
        Line(called[name], [Cell(str(mapping(of).get("signature") or "\u2013"), words=True)])
        for name, of in mapping(report.get("metrics")).items()
    ]
    return Table("Signatures", ["Metric", "Signature"], lines)


def _counts(report: Report) -> list[tuple[str, str]]:
    n = mapping(report.get("n"))
    words = {"contexts": "questions"}
    found = [
        (words.get(name, name), whole(given))
        for name in ("answers", "contexts", "systems")
        if (given := number(n.get(name))) is not None
    ]
    for part, called in _PARTS.items():
        of = mapping(mapping(report.get("split")).get(part))
        answers, contexts = number(of.get("answers")) or 0, number(of.get("contexts")) or 0
        found.append((f"{called} answers", f"{whole(answers)} to {whole(contexts)} questions"))
    return found


def _facts(report: Report) -> list[tuple[str, str]]:
    encoder, settings = mapping(report.get("encoder")), mapping(report.get("settings"))
    trained = mapping(report.get("model"))
    scale = model.scale(report)
    files = [
        f"{name} sha256 {digest}"
        for source in rows(report.get("sources"))
        for name, digest in mapping(source.get("files")).items()
    ]
    left = [
        f"{whole(number(count) or 0)} with {why}" for why, count in mapping(report.get("left_out")).items()
    ]
    seconds = mapping(report.get("seconds"))
    said = [
        ("Data", report.get("source")),
        ("Files", ", ".join(files)),
        ("Left out", ", ".join(left)),
        ("Model", trained.get("signature")),
        ("Encoder", f"{encoder.get('name')} ({encoder.get('kind')}, {str(encoder.get('digest'))[:12]})"),
        ("Training", ", ".join(f"{name} {_words(given)}" for name, given in settings.items())),
        ("Scale of the human scores", f"{scale[0]:g} to {scale[1]:g}" if scale else ""),
        ("Profile of untrained metrics", report.get("profile")),
        ("Seed", report.get("seed")),
        ("Bootstrap replicates of each interval", report.get("replicates")),
        ("Draws of each permutation test", report.get("draws")),
        ("Seconds", ", ".join(f"{name} {each:g}" for name, each in seconds.items())),
        ("Distillery", report.get("distillery")),
        ("Versions", ", ".join(f"{name} {each}" for name, each in mapping(report.get("versions")).items())),
    ]
    return [
        (name, f"{given:,}" if isinstance(given, int) else str(given))
        for name, given in said
        if given is not None and given != ""
    ]


def _words(given: object) -> str:
    if isinstance(given, bool):
        return "yes" if given else "no"
    return "/".join(map(str, given)) if isinstance(given, list) else str(given)


def _names(report: Report, name: str) -> list[object]:
    given = mapping(report.get("table6")).get(name)
    return list(given) if isinstance(given, list) else []
