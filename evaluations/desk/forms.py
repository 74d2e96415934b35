"""Forms: scores from elsewhere, two evaluations to compare."""

from typing import Any

from django import forms

from crowd.desk.forms import Form
from evaluations.models import ExternalScores
from releases.models import Release

LARGEST_UPLOAD = 64 << 20


class ReleaseField(forms.ModelChoiceField[Release]):
    """A release by its version."""

    def label_from_instance(self, obj: Any) -> str:
        """The version."""
        return str(obj.version)


class UploadForm(Form):
    """A column of scores of a release's candidates in a file."""

    release = ReleaseField(
        queryset=Release.objects.none(), to_field_name="version", label="Release", empty_label=None
    )
    name = forms.RegexField(
        r"\A[a-z0-9][a-z0-9._+-]{0,59}\Z",
        label="Name",
        help_text="As reports will call it, such as comet-22: small letters, digits, and . _ + - between.",
        error_messages={"invalid": "Small letters, digits, and . _ + - after the first; at most 60."},
    )
    says = forms.CharField(
        max_length=300, required=False, label="What it is", help_text="For readers of reports."
    )
    direction = forms.ChoiceField(
        choices=[(choice.value, choice.label.capitalize()) for choice in ExternalScores.Direction],
        label="Better values are",
        help_text="Where lower is better, the sign is turned, so that all metrics point the same way.",
    )
    column = forms.CharField(
        max_length=200,
        required=False,
        label="Column of the scores",
        help_text="Empty: score, or the only column that is no id.",
    )
    file = forms.FileField(
        label="File",
        max_length=200,
        help_text="CSV, TSV or JSONL, plain or gzip, with a header: candidate_id and score, or query_id, "
        f"system and score. Up to {LARGEST_UPLOAD >> 20} MB.",
    )

    def __init__(self, data: Any = None, files: Any = None, *, releases: Any, **options: Any) -> None:
        super().__init__(data, files=files, **options)
        field = self.fields["release"]
        assert isinstance(field, forms.ModelChoiceField)
        field.queryset = releases

    def clean_file(self) -> Any:
        """Not larger than one page load can read."""
        file = self.cleaned_data["file"]
        if file.size > LARGEST_UPLOAD:
            raise forms.ValidationError(
                f"This file is larger than {LARGEST_UPLOAD >> 20} MB. Give it to manage.py evaluate instead."
            )
        return file
