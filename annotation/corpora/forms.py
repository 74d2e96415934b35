"""Forms of corpora: what a file holds, how its documents are split, what is done with repetitions."""

import uuid
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile

from retrieval.services.corpora import Adding
from retrieval.text.windows import Splitting

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
_ABOUT = ("title", "language", "licence", "attribution")


class FileForm(forms.Form):
    """A file of passages or documents, and how it goes in."""

    file = forms.FileField(
        label="File",
        help_text="JSONL, CSV or TSV with id and text, Parquet, MS MARCO or TREC CAR; plain, or packed with "
        "gzip, bzip2, xz or Zstandard. All or nothing: a file with a fault is not taken.",
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

    def groups(self) -> list[tuple[str, str, list[Any]]]:
        """Parts of the form: a heading, a sentence, fields."""
        split = "Passages are windows of whole sentences, with their place in the document."
        repeats = "Compared with what the corpus has already, and with what stands further up in the file."
        known = [self["skip_known"]] if "skip_known" in self.fields else []
        return [
            ("The file", "", [self["file"], *known]),
            ("Long documents", split, [self[name] for name in ("split", "size", "stride")]),
            ("Repetitions", repeats, [self["repeats"], self["near"]]),
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

    def upload(self) -> "UploadedFile[bytes]":
        """The file."""
        upload: UploadedFile[bytes] = self.cleaned_data["file"]
        return upload


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
    }


def adding_of(payload: dict[str, Any]) -> Adding:
    """Options as the service wants them; ValueError for what cannot be."""
    by = payload["by"]
    splitting = Splitting(payload["size"], payload["stride"], by) if by else None
    return Adding(splitting, payload["repeats"], payload["near"], payload["skip_known"])
