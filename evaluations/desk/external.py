"""Scores from elsewhere: upload, preview, keep, remove."""

import tempfile
from pathlib import Path
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from crowd.desk.forms import Form
from evaluations import external_scores, selectors
from evaluations.desk.evaluations import FOLDER, TAB
from evaluations.errors import EvaluationError
from evaluations.models import ExternalScores
from releases.models import Release
from web.access import ProjectAccess, Role, on_project
from web.forms import run_action
from web.pages import show
from web.tables import page_of

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
        help_text="Where lower is better, the sign is reversed, so that all metrics point the same way.",
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


LIST = "evaluations:external"


@require_safe
@on_project()
def listing(request: HttpRequest, access: ProjectAccess) -> HttpResponse:
    """The columns that were kept."""
    rows = (
        ExternalScores.objects.filter(release__project=access.project, kept=True)
        .select_related("release", "created_by")
        .defer("body", "release__manifest", "release__options")
        .order_by("-pk")
    )
    page = page_of(rows, request)
    can_upload = access.manager and selectors.releases_to_evaluate(access.project).exists()
    return show(request, "external.html", access, folder=FOLDER, tab=TAB, page=page, can_upload=can_upload)


@require_http_methods(["GET", "HEAD", "POST"])
@on_project(Role.MANAGER)
def upload(request: HttpRequest, access: ProjectAccess) -> HttpResponse:
    """A file with a column of scores; all or nothing of it is read."""
    posted = request.method == "POST"
    releases = selectors.releases_to_evaluate(access.project)
    form = UploadForm(
        request.POST if posted else None,
        request.FILES if posted else None,
        releases=releases,
        initial={"release": request.GET.get("release", "")},
    )
    if posted and form.is_valid():
        try:
            scores = _read(form, access)
        except EvaluationError as error:
            form.add_error("file", str(error))
        else:
            return redirect("evaluations:look", access.project.slug, scores.pk)
    return show(
        request, "upload.html", access, folder=FOLDER, tab=TAB, form=form, status=422 if form.errors else 200
    )


def _read(form: UploadForm, access: ProjectAccess) -> ExternalScores:
    cleaned = form.cleaned_data
    file: UploadedFile[bytes] = cleaned["file"]
    with tempfile.NamedTemporaryFile(prefix="scores-") as copy:
        for piece in file.chunks():
            copy.write(piece)
        copy.flush()
        return external_scores.look(
            release=cleaned["release"],
            path=Path(copy.name),
            file_name=file.name or "scores",
            name=cleaned["name"],
            direction=cleaned["direction"],
            says=cleaned["says"],
            column=cleaned["column"],
            actor=access.user,
        )


def _get_scores(access: ProjectAccess, pk: int) -> ExternalScores:
    rows = ExternalScores.objects.select_related("release", "created_by")
    scores: ExternalScores = get_object_or_404(rows, pk=pk, release__project=access.project)
    scores.release.project = access.project
    return scores


@require_safe
@on_project(Role.MANAGER)
def look(request: HttpRequest, access: ProjectAccess, *, pk: int) -> HttpResponse:
    """What was read, before it is kept."""
    scores = _get_scores(access, pk)
    first = list(external_scores.values_of(scores).items())[:5]
    return show(request, "look.html", access, folder=FOLDER, tab=TAB, scores=scores, first=first)


@require_POST
@on_project(Role.MANAGER)
def keep(request: HttpRequest, access: ProjectAccess, *, pk: int) -> HttpResponse:
    """Let scores that were looked at join evaluations of their release."""
    scores = _get_scores(access, pk)

    def action() -> str:
        external_scores.keep(scores=scores, actor=access.user)
        return f"The scores {scores.name} can join evaluations of release {scores.release.version} now."

    return run_action(request, action, LIST, access.project.slug)


@require_POST
@on_project(Role.MANAGER)
def remove(request: HttpRequest, access: ProjectAccess, *, pk: int) -> HttpResponse:
    """Take it away."""
    scores = _get_scores(access, pk)

    def action() -> str:
        external_scores.remove(scores=scores, actor=access.user)
        return f"The scores {scores.name} are removed. Finished evaluations keep their values."

    return run_action(request, action, LIST, access.project.slug)
