"""A small judged set in a folder, and the command run on it."""

import io
import json

from django.core.management import call_command

PASSAGES = {
    "cats": "Cats sleep most of the day and hunt mice at night.",
    "dogs": "Dogs guard the house and bark at strangers.",
    "mice": "Mice eat grain and hide from cats.",
    "bees": "Bees make honey and live in hives.",
    "hives": "Hives of wild bees hang in hollow trees.",
}
QUERIES = {"q1": "what do cats hunt", "q2": "where do bees live", "q3": "who guards the house"}
QRELS = "q1 0 cats 2\nq1 0 mice 1\nq2 0 bees 2\nq2 0 hives 1\nq3 0 dogs 1\n"
CONVERSATIONS = [
    {
        "id": "animals",
        "title": "Animals",
        "turns": [
            {"id": "q1", "text": "What do cats hunt?", "rewrite": "What do cats hunt?"},
            {"id": "q1b", "text": "And where do they hide?", "rewrite": "Where do mice hide?"},
        ],
    },
    {"id": "insects", "turns": [{"id": "q2", "text": "Where do bees live?"}]},
]


def as_lines(records):
    return "".join(json.dumps(record) + "\n" for record in records)


def judged_set(folder, **files):
    """passages.jsonl, queries.jsonl, conversations.jsonl, qrels.tsv; `files` are other contents by name."""
    contents = {
        "passages.jsonl": as_lines({"id": key, "text": text} for key, text in PASSAGES.items()),
        "queries.jsonl": as_lines({"id": key, "text": text} for key, text in QUERIES.items()),
        "conversations.jsonl": as_lines(CONVERSATIONS),
        "qrels.tsv": QRELS,
        **{name.replace("__", "."): text for name, text in files.items()},
    }
    for name, text in contents.items():
        path = folder / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def evaluated(folder, *, qrels="qrels.tsv", queries="queries.jsonl", **options):
    """What the terminal shows in one line, and the JSON."""
    out = io.StringIO()
    report = folder / "report.json"
    call_command(
        "retrieval-eval",
        str(folder / qrels),
        str(folder / queries),
        stdout=out,
        json=report,
        **{"draws": 99, **options},
    )
    return " ".join(out.getvalue().split()), json.loads(report.read_text(encoding="utf-8"))


def means(report, system):
    """Means of a system by measure."""
    return next(each["means"] for each in report["systems"] if each["name"] == system)
