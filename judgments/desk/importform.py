"""The form of an import of answers: how to read the file, and what to do with it."""

import uuid
from dataclasses import asdict
from typing import Any

from django import forms

from annotation.desk.importform import encoding_field
from judgments.importing.formats import FORMATS
from judgments.importing.rows import FIELDS, LONGEST_SYSTEM
from judgments.services.importing import Options
from web.job_pages import OptionsForm

_WORDS = {
    "query_id": "Id of the query",
    "query": "Query",
    "system": "System",
    "text": "Answer",
    "opinion": "Opinion (yes, no, depends)",
    "entities": "Entities",
    "context": "Earlier turns",
}


class AnswersForm(OptionsForm[Options]):
    """All options, with a select per field where the file has columns of its own."""

    format = forms.ChoiceField(choices=list(FORMATS.items()), label="Format", initial="auto")
    encoding = encoding_field()
    system = forms.CharField(
        max_length=LONGEST_SYSTEM,
        required=False,
        label="Whose answers they are",
        help_text="The system's name, for lines that do not say it. Judges never see it.",
    )
    keep_exact = forms.BooleanField(
        required=False,
        label="Have answers judged that are the same as a reference, instead of setting them aside",
    )
    no_header = forms.BooleanField(
        required=False, label="The first line of the table is an answer, not the names of columns"
    )
    strict = forms.BooleanField(required=False, label="One bad line refuses the whole file")
    once = forms.UUIDField(widget=forms.HiddenInput, initial=uuid.uuid4)

    def __init__(self, data: Any = None, *, columns: list[str], mapping: dict[str, str]) -> None:
        super().__init__(data, label_suffix="")
        choices = [("", "not in the file"), *((name, name[:80]) for name in columns if name)]
        self.columns = [f"column_{name}" for name in FIELDS] if columns else []
        for name in FIELDS if columns else ():
            self.fields[f"column_{name}"] = forms.ChoiceField(
                choices=choices, required=False, initial=mapping.get(name, ""), label=_WORDS[name]
            )

    def groups(self) -> list[tuple[str, str, list[Any]]]:
        """Parts of the form: a heading, a sentence, fields."""
        columns = [self[name] for name in self.columns]
        reading = "If this is not what the file holds, change it and look again."
        return [
            (
                "How to read it",
                reading,
                [self["format"], self["encoding"], self["no_header"], self["system"]],
            ),
            *(
                [("Which column holds what", "A query is found by its id, or by its text.", columns)]
                if columns
                else []
            ),
            ("What to do with it", "", [self["keep_exact"], self["strict"]]),
        ]

    def options(self) -> Options:
        """The form as the service wants it."""
        given = self.cleaned_data
        return Options(
            format=given["format"],
            encoding=given["encoding"],
            columns={name: given[f"column_{name}"] for name in FIELDS} if self.columns else {},
            header=False if given["no_header"] else None,
            system=given["system"].strip(),
            strict=given["strict"],
            keep_exact=given["keep_exact"],
        )

    def payload(self) -> dict[str, Any]:
        """The options, ready for JSON."""
        return asdict(self.options())
