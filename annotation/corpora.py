"""Corpora as desk and API handle them: forms, what a file holds, payloads of their jobs, their states."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django import forms

from core.files.encodings import USUAL
from core.files.tables import DELIMITERS
from core.jobs.models import OPEN_STATES, Job
from core.projects.models import Project
from retrieval.models import Corpus, Index, Passage, WordNetwork
from retrieval.passage_files import Layout, Look
from retrieval.passage_formats import NAMES
from retrieval.selectors import corpus_facts
from retrieval.sentences import WindowOptions
from retrieval.services.corpora import AdditionOptions

_SPLIT = {
    "": "no: each record is a passage",
    "sentences": "by sentences",
    "words": "by words, whole sentences",
}
_REPEATS = {
    "report": "keep them and tell how many there are",
    "skip": "leave them out",
    "keep": "do not look",
}
_SAME_ID = {
    "refuse": "refuse the file",
    "first": "keep the first, leave the others out",
    "number": "number them: id-2, id-3, …",
}
_READING = ("encoding", "delimiter", "sheet")
#: What is chosen for a field that no column holds.
NONE = "\N{EM DASH}"
_FIELDS = {
    "id": "Id",
    "text": "Text",
    "title": "Title",
    "url": "URL",
    "group": "Page it is from",
    "start": "Its first character there",
    "end": "Its last character there",
}
_ABOUT = ("title", "language", "licence", "attribution")


class UploadForm(forms.Form):
    """A file, which is looked at before anything of it goes in."""

    file = forms.FileField(
        label="File",
        help_text="JSONL, CSV or TSV, a workbook (.xlsx, .ods), Parquet, MS MARCO or TREC CAR; plain, or "
        "packed with gzip, bzip2, xz or Zstandard. The next page shows how it is read.",
    )


class FileForm(forms.Form):
    """How a file of passages or documents is read, and how it goes in; `look` is what it seems to hold."""

    encoding = forms.ChoiceField(choices=[("", "find out"), *USUAL.items()], required=False, label="Encoding")
    delimiter = forms.ChoiceField(
        choices=[("", "find out"), *DELIMITERS.items()], required=False, label="Cells are separated by"
    )
    sheet = forms.ChoiceField(choices=[("", "the first with data")], required=False, label="Sheet")
    same_id = forms.ChoiceField(
        choices=list(_SAME_ID.items()),
        initial="refuse",
        label="An id that is there already, with another text",
        help_text="A row that repeats another one exactly is always left out and counted.",
    )
    split = forms.ChoiceField(
        choices=list(_SPLIT.items()), required=False, label="Split documents into passages"
    )
    size = forms.IntegerField(min_value=1, required=False, initial=5, label="Length of a passage")
    stride = forms.IntegerField(
        min_value=1,
        required=False,
        initial=3,
        label="The next one begins after",
        help_text="In sentences or words. Less than the length makes passages overlap.",
    )
    repeats = forms.ChoiceField(
        choices=list(_REPEATS.items()), initial="report", label="Passages that repeat an earlier one"
    )
    near = forms.FloatField(
        required=False,
        label="Near-repetitions from this share",
        help_text="Of word triples in common, such as 0.8. Empty: only those word for word.",
    )
    skip_known = forms.BooleanField(
        required=False, label="Leave out ids that the corpus has already, instead of refusing the file"
    )
    once = forms.UUIDField(widget=forms.HiddenInput, initial=uuid.uuid4)

    def __init__(self, *args: Any, look: Look | None = None, **named: Any) -> None:
        super().__init__(*args, **named)
        look = look or Look()
        self.columns = _add_columns(self, look)
        if look.sheets:
            sheets = self.fields["sheet"]
            assert isinstance(sheets, forms.ChoiceField)
            sheets.choices = [("", "the first with data"), *((each, each) for each in look.sheets)]
        text = look.format in ("csv", "tsv", "marco", "jsonl")
        gone = {"sheet": len(look.sheets) < 2, "encoding": not text, "delimiter": look.format != "csv"}
        for name, is_gone in gone.items():
            if is_gone and look.format:
                del self.fields[name]

    def groups(self) -> list[tuple[str, str, list[Any]]]:
        """Parts of the form: a heading, a sentence, fields."""
        reading = "If this is not what the file holds, change it and look again."
        how = [self[name] for name in (*_READING, *self.columns) if name in self.fields]
        split = "Passages are windows of whole sentences, with their place in the document."
        repeats = "Compared with the passages of the corpus, and with earlier rows of the file."
        skip_field = [self["skip_known"]] if "skip_known" in self.fields else []
        return [
            ("How to read it", reading, how),
            ("Long documents", split, [self[name] for name in ("split", "size", "stride")]),
            (
                "Repeated ids and texts",
                repeats,
                [self["same_id"], *skip_field, self["repeats"], self["near"]],
            ),
        ]

    def clean(self) -> dict[str, Any]:
        """Ask the service's own checks."""
        cleaned = super().clean() or {}
        if not self.errors:
            try:
                cleaned["adding"] = adding_of(payload_of(cleaned))
            except ValueError as error:
                self.add_error(None, str(error))
        return cleaned


class CorpusForm(FileForm):
    """A new corpus with its first file."""

    slug = forms.SlugField(max_length=80, required=False, label="Name", help_text="Empty: that of the file.")
    title = forms.CharField(max_length=200, required=False, label="Title")
    language = forms.CharField(
        max_length=35, required=False, label="Language", help_text="BCP 47 tag. Empty: the project's."
    )
    licence = forms.CharField(
        max_length=80, required=False, label="Licence", help_text="Of the passages, such as CC BY 4.0."
    )
    attribution = forms.CharField(
        required=False, max_length=2000, label="Attribution", help_text="Whom the licence wants named."
    )

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        del self.fields["skip_known"]

    def groups(self) -> list[tuple[str, str, list[Any]]]:
        """What the corpus is comes after the file."""
        first, *others = super().groups()
        return [first, ("The corpus", "", [self[name] for name in ("slug", *_ABOUT)]), *others]

    def about(self) -> dict[str, str]:
        """What `create_corpus` wants to know, without the slug."""
        return {name: self.cleaned_data[name].strip() for name in _ABOUT}


def payload_of(cleaned: dict[str, Any]) -> dict[str, Any]:
    """The options of a form, ready for JSON."""
    by = cleaned["split"]
    size = cleaned["size"] or 0
    return {
        "by": by,
        "size": size if by else None,
        "stride": (cleaned["stride"] or size) if by else None,
        "repeats": cleaned["repeats"],
        "near": cleaned["near"] if cleaned["repeats"] != "keep" else None,
        "skip_known": bool(cleaned.get("skip_known")),
        "same_id": cleaned["same_id"],
        "layout": {
            **{name: cleaned.get(name, "") for name in _READING},
            "columns": {
                field: "" if column == NONE else column
                for field in NAMES
                if (column := cleaned.get(f"column_{field}", ""))
            },
        },
    }


def layout_of(payload: dict[str, Any]) -> Layout:
    """How the file is to be read; found out where a job of before says nothing."""
    return Layout(**payload.get("layout", {}))


def asked_layout(data: Mapping[str, str]) -> Layout:
    """The same from what was entered, before it is checked: columns depend on it."""
    columns_of_fields = {field: data.get(f"column_{field}", "") for field in NAMES}
    columns = {field: "" if each == NONE else each for field, each in columns_of_fields.items() if each}
    return Layout(columns, *(data.get(name, "") for name in ("encoding", "delimiter", "sheet")))


def entered_as(options: dict[str, Any]) -> dict[str, Any]:
    """The fields of a form from the options of a job, to begin another one with."""
    layout = options.get("layout", {})
    fields = {
        name: options.get(name) for name in ("size", "stride", "repeats", "near", "skip_known", "same_id")
    }
    columns = {f"column_{field}": name or NONE for field, name in layout.get("columns", {}).items()}
    reading = {name: layout.get(name, "") for name in _READING}
    return (
        {name: value for name, value in fields.items() if value is not None}
        | columns
        | reading
        | {"split": options.get("by", "")}
    )


def _add_columns(form: forms.Form, look: Look) -> list[str]:
    """A select for each field of a passage where the file has columns of its own."""
    if not look.columns or look.format in ("marco", "car"):
        return []
    for field, label in _FIELDS.items():
        none = "number the passages" if field == "id" else "not in the file"
        choices = [(NONE, none)] if field != "text" else []
        choices += [(name, name[:80]) for name in look.columns if name and name != NONE]
        form.fields[f"column_{field}"] = forms.ChoiceField(
            choices=[("", "choose") if field in ("id", "text") else ("", "find out"), *choices],
            initial=look.mapping.get(field, ""),
            required=False,
            label=label,
        )
    return [f"column_{field}" for field in _FIELDS]


def adding_of(payload: dict[str, Any]) -> AdditionOptions:
    """Options as the service wants them; ValueError for what cannot be."""
    by = payload["by"]
    splitting = WindowOptions(payload["size"], payload["stride"], by) if by else None
    return AdditionOptions(
        splitting,
        payload["repeats"],
        payload["near"],
        payload["skip_known"],
        payload.get("same_id", "refuse"),
    )


ADD, INDEX, NETWORK, REMOVE = (f"annotation.corpus.{what}" for what in ("add", "index", "network", "remove"))
KINDS = (ADD, INDEX, NETWORK, REMOVE)
#: Passages that the page of a corpus shows.
SHOWN = 5


@dataclass(frozen=True, slots=True)
class State:
    """State of an index or a network: a word, how it looks, and a sentence if there is more to say."""

    word: str
    look: str
    more: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A corpus in the list, and on its page."""

    corpus: Corpus
    passages: int
    index: State
    network: State
    counted: WordNetwork | None
    job: Job | None


def lines(project: Project) -> list[Line]:
    """All corpora of a project; as many queries for many as for few."""
    jobs = open_jobs(project)
    return [_line(each.corpus, each.passages, jobs.get(each.corpus.pk)) for each in corpus_facts(project)]


def _line(corpus: Corpus, passages: int, job: Job | None) -> Line:
    network: WordNetwork | None = getattr(corpus, "network", None)
    return Line(
        corpus,
        passages,
        _state(
            corpus.index,
            passages,
            without="Nothing is found in this corpus before it is built.",
            verb="holds",
        ),
        _state(network, passages, without="Without it, passages are ranked by BM25 alone.", verb="counts"),
        network,
        job,
    )


def open_jobs(project: Project) -> dict[int, Job]:
    """The job that waits or runs for each corpus, by the corpus' number; the latest, if there are several."""
    rows = Job.objects.filter(kind__in=KINDS, state__in=OPEN_STATES, payload__project=project.pk)
    return {row.payload["corpus"]: row for row in rows.order_by("pk")}


def examples(corpus: Corpus) -> list[Passage]:
    """The first passages."""
    return list(Passage.objects.filter(corpus=corpus).order_by("pk")[:SHOWN])


def _state(row: Index | WordNetwork | None, passages: int, *, without: str, verb: str) -> State:
    """State of an index or a network. without: what its absence means; verb: what it does with passages."""
    if row is not None and row.state == Index.State.FAILED:
        return State("failed", "bad", row.note)
    if row is not None and row.state == Index.State.BUILDING:
        return State("being built", "")
    if row is None or not row.generation:
        return State("not built", "", without)
    if row.state == Index.State.STALE or row.passages != passages:
        return State("out of date", "wait", f"It {verb} {row.passages:,} of {passages:,} passages.")
    return State("ready", "good")
