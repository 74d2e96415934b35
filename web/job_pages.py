"""Pages of long work: how far a job is and how it is cancelled; and an import from upload to report.

An app has one object of a subclass and puts its `paths` among its addresses.
"""

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Protocol, TypeVar, cast

from django import forms
from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.urls import URLPattern, path
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from core.jobs.models import Job, JobState
from core.jobs.services import cancel, enqueue
from core.projects.models import Project
from web.access import ProjectAccess, Role, on_project
from web.cells import Link, isolated
from web.forms import FormError, run_action
from web.kit import Own, Page
from web.pages import show

OptionsT = TypeVar("OptionsT")


class JobPages(ABC):
    """The page of a project's job, its live part, and cancelling it.

    With the name "import" the template of its live part is `parts/import_live.html`, the addresses
    `import_job`, `import_live` and `import_cancel` of its namespace.
    """

    #: The app's namespace of addresses, which is also its folder of templates.
    app: ClassVar[str]
    name: ClassVar[str]
    #: Where the template of the live part lies; imports of all apps have one.
    live_folder: ClassVar[str]
    tab: ClassVar[str]
    kinds: ClassVar[tuple[str, ...]]
    #: Who may see the pages and cancel the job, at least.
    role: ClassVar[str] = Role.MANAGER
    #: What the job is, as the subject of a sentence; and what the 404 page says.
    subject: ClassVar[str] = "It"
    missing: ClassVar[str] = "There is no such work."
    #: The heading while the job waits or runs, and once it failed; what the button says that cancels it.
    doing: ClassVar[str] = ""
    failed: ClassVar[str] = "This did not work"
    stop: ClassVar[str] = "Cancel"

    def job_paths(self, place: str) -> list[URLPattern]:
        """Addresses of the job's pages below `place`."""
        guarded = on_project(self.role)
        return [
            path(f"{place}<int:job>/", require_safe(guarded(self.show_job)), name=f"{self.name}_job"),
            path(
                f"{place}<int:job>/live/",
                require_safe(never_cache(guarded(self.show_live))),
                name=f"{self.name}_live",
            ),
            path(f"{place}<int:job>/cancel/", require_POST(guarded(self.cancel)), name=f"{self.name}_cancel"),
        ]

    def context(self, job: Job) -> dict[str, Any]:
        """What the page and its live part show of the job."""
        over = job.state in (JobState.FAILED, JobState.CANCELLED)
        return {"app": self.app, "job": job, "over": over, "done": job.state == JobState.DONE}

    @abstractmethod
    def describe_rest(self, job: Job) -> str:
        """A sentence about what stays of a job's work that is cancelled."""

    def show_result(self, request: HttpRequest, access: ProjectAccess, job: Job) -> HttpResponse | None:
        """The page that takes the place of the job's once there is a result; None: there is no other."""
        return None

    def show_job(self, request: HttpRequest, access: ProjectAccess, *, job: int) -> HttpResponse:
        """How far the job is, and what came of it."""
        row = self.find_job(access.project, job)
        result = self.show_result(request, access, row) if row.state == JobState.DONE else None
        if result is not None:
            return result
        context = {"doing": self.doing, "stop": self.stop} | self.context(row)
        place = f"{self.app}:{self.name}"
        page = Page(
            self.failed if context["over"] else context["doing"],
            [Own("parts/job.html")],
            lead=isolated(self.name_file(access.project, row), most=120),
            trail=self.list_trail(access, context),
            scripts=["desk.js"],
        )
        context |= {
            "live": f"{self.live_folder}/parts/{self.name}_live.html",
            "live_at": access.address(f"{place}_live", row.pk),
            "cancel_at": access.address(f"{place}_cancel", row.pk),
            "left": self.describe_rest(row),
        }
        return show(request, page, access, tab=self.tab, **context)

    def name_file(self, project: Project, job: Job) -> str:
        """What the job is about, by the name of a file."""
        return str(job.payload.get("name", ""))

    def list_trail(self, access: ProjectAccess, context: Mapping[str, Any]) -> list[Link]:
        """The pages above the job's, below the project's."""
        return []

    def show_live(self, request: HttpRequest, access: ProjectAccess, *, job: int) -> HttpResponse:
        """The part of that page that changes by itself."""
        context = self.context(self.find_job(access.project, job))
        return show(request, f"parts/{self.name}_live.html", access, folder=self.live_folder, **context)

    def cancel(self, request: HttpRequest, access: ProjectAccess, *, job: int) -> HttpResponse:
        """Cancel a job that waits or runs and show its page."""
        row = self.find_job(access.project, job)

        def action() -> str:
            if not cancel(job_id=row.pk):
                raise FormError(f"{self.subject} ended before it could be cancelled.")
            return f"{self.subject} is cancelled. {self.describe_rest(row)}"

        return run_action(request, action, f"{self.app}:{self.name}_job", access.project.slug, row.pk)

    def find_job(self, project: Project, pk: int) -> Job:
        """A job of this project and of these kinds; Http404 where there is none."""
        row = get_object_or_404(Job, pk=pk, kind__in=self.kinds)
        if row.payload.get("project") != project.pk:
            raise Http404(self.missing)
        return row


class StagedUpload(Protocol):
    """An uploaded file that waits for its import."""

    @property
    def name(self) -> str:
        """What its sender called it."""

    @property
    def sha256(self) -> str:
        """The digest of its bytes, by which it is found again."""


FileT = TypeVar("FileT", bound=StagedUpload)


class OptionsForm(forms.Form, Generic[OptionsT]):
    """The form of all options of an import; `columns` are the fields that choose columns of the file.

    Its two methods are for subclasses. They are not abstract: the metaclass of Django's forms is not ABC's.
    """

    columns: list[str]
    #: The columns of the file are others than those that were chosen from, so they were found once more.
    found_again = False

    def add_reading(self, labels: Mapping[str, str], seen: "FilePreview") -> None:
        """Fields for the sheet and the row of names, and one for each of our fields, labelled by `labels`."""
        if len(seen.sheets) > 1:
            self.fields["sheet"] = forms.ChoiceField(
                choices=[("", "the first one with data"), *((name, name) for name in seen.sheets)],
                required=False,
                label="Sheet",
            )
        self.fields["header_row"] = forms.IntegerField(
            min_value=1,
            required=False,
            label="Row that names the columns",
            help_text="Where a title is above it. Else it is the first row that holds something.",
        )
        choices = [("", "not in the file"), *((name, name[:80]) for name in seen.columns if name)]
        self.columns = [f"column_{name}" for name in labels] if seen.columns else []
        for name, label in labels.items() if seen.columns else ():
            self.fields[f"column_{name}"] = forms.ChoiceField(
                choices=choices, required=False, initial=seen.mapping.get(name, ""), label=label
            )
        offered = hashlib.sha256(json.dumps(seen.columns).encode()).hexdigest()[:16]
        self.fields["offered"] = forms.CharField(widget=forms.HiddenInput, required=False, initial=offered)
        if self.is_bound and self.data.get("offered", offered) != offered:
            posted = cast("QueryDict", self.data).copy()
            posted["offered"] = offered
            for name in labels:
                posted[f"column_{name}"] = seen.mapping.get(name, "")
            self.found_again, self.data = True, posted

    def reading_fields(self) -> list[forms.BoundField]:
        """Which sheet and which row are read."""
        return [self[name] for name in ("sheet", "header_row") if name in self.fields]

    def options(self) -> OptionsT:
        """The form as the service wants it."""
        raise NotImplementedError

    def payload(self) -> dict[str, Any]:
        """The options, ready for JSON."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class FilePreview:
    """The first records of a file as they would be read, or why there are none (`trouble`); its columns."""

    found: object | None
    trouble: str
    columns: list[str]
    mapping: dict[str, str]
    sheets: list[str] = field(default_factory=list)


def posted_row(post: QueryDict) -> int:
    """The row of names that a form has; 0 where it has none, or nothing that is a row."""
    row = post.get("header_row", "")
    return int(row) if row.isascii() and row.isdigit() else 0


class ImportPages(JobPages, Generic[FileT, OptionsT]):
    """An import: a file is uploaded, looked at with its options, and imported by a job."""

    name = "import"
    live_folder = "desk"
    subject = "The import"
    missing = "There is no such import."
    upload_form: ClassVar[type[forms.Form]]
    #: What the service raises for a file that it does not take, with the reason in words.
    refusal: ClassVar[type[Exception]]
    doing, failed, stop = "Importing", "The import failed", "Cancel the import"
    #: How the effect of a job begins, under which one form is imported once however often it is sent.
    effect: ClassVar[str]

    def paths(self, place: str) -> list[URLPattern]:
        """Addresses of all pages below `place`."""
        manager, both = on_project(Role.MANAGER), require_http_methods(["GET", "HEAD", "POST"])
        return [
            path(f"{place}new/", both(manager(self.upload)), name="import_new"),
            path(f"{place}<str:sha256>/preview/", both(manager(self.preview)), name="import_preview"),
            *self.job_paths(f"{place}running/"),
        ]

    @abstractmethod
    def stage(self, project: Project, upload: "UploadedFile[bytes]") -> FileT:
        """Keep an upload until it is imported."""

    @abstractmethod
    def find_staged(self, project: Project, sha256: str) -> FileT | None:
        """An upload of this project that was kept."""

    @abstractmethod
    def first_options(self, post: QueryDict | None) -> OptionsT:
        """Options on which it depends which columns a file has, as posted; else the usual ones."""

    @abstractmethod
    def look(self, file: FileT, options: OptionsT) -> FilePreview:
        """Look at the beginning of a file."""

    @abstractmethod
    def form(self, post: QueryDict | None, seen: FilePreview, project: Project) -> OptionsForm[OptionsT]:
        """The form of all options for a file with these columns."""

    def upload_context(self, project: Project) -> Mapping[str, Any]:
        """What the page of the upload shows besides its form."""
        return {}

    def describe_rest(self, job: Job) -> str:
        """An import stores all or nothing."""
        return "Nothing of the file is stored."

    def upload(self, request: HttpRequest, access: ProjectAccess) -> HttpResponse:
        """Upload a file."""
        posted = request.method == "POST"
        files = request.FILES if posted else None
        form = self.upload_form(request.POST if posted else None, files, label_suffix="")
        if posted and form.is_valid():
            try:
                file = self.stage(access.project, cast("UploadedFile[bytes]", form.cleaned_data["file"]))
            except self.refusal as error:
                form.add_error("file", str(error))
            else:
                return redirect(f"{self.app}:import_preview", access.project.slug, file.sha256)
        return show(
            request,
            "import.html",
            access,
            folder=self.app,
            tab=self.tab,
            form=form,
            status=422 if posted else 200,
            **self.upload_context(access.project),
        )

    def preview(self, request: HttpRequest, access: ProjectAccess, *, sha256: str) -> HttpResponse:
        """The first records as they would be read, and all options; `start` starts the job."""
        file = self.find_staged(access.project, sha256)
        if file is None:
            raise Http404("There is no such upload.")
        seen = self.look(file, self.first_options(None))
        form = self.form(None, seen, access.project)
        if request.method == "POST":
            # The columns to choose from are those of the format chosen.
            seen_as_posted = self.look(file, self.first_options(request.POST))
            form = self.form(request.POST, seen_as_posted, access.project)
            if form.is_valid():
                seen = self.look(file, form.options())
                if seen.found is not None and "start" in request.POST:
                    if not form.found_again:
                        return self._start(request, access, file, form)
                    form.add_error(None, "The columns have changed. Check them, then import.")
                if seen.trouble:
                    form.add_error(None, seen.trouble)
        return show(
            request,
            "import_preview.html",
            access,
            folder=self.app,
            tab=self.tab,
            file=file,
            form=form,
            found=seen.found,
            trouble=seen.trouble,
            status=422 if form.errors else 200,
        )

    def _start(
        self, request: HttpRequest, access: ProjectAccess, file: FileT, form: OptionsForm[OptionsT]
    ) -> HttpResponse:
        job = enqueue(
            kind=self.kinds[0],
            payload={
                "project": access.project.pk,
                "sha256": file.sha256,
                "name": file.name,
                "user": access.user.pk,
                "options": form.payload(),
            },
            effect=f"{self.effect}:{access.project.pk}:{form.cleaned_data['once'].hex}",
        )
        messages.success(request, "The import runs.")
        return redirect(f"{self.app}:import_job", access.project.slug, job.pk)
