"""The ten questions of the demonstration, and their task pages as a requester would host them.

The pages have no cookie and no script. Where the passages come from is in ATTRIBUTION.md.
"""

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

from csp.constants import SELF
from csp.decorators import csp_replace
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import path
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.http import require_safe

from distillery.demo.tour import switch_tour

FILE = Path(__file__).with_name("tasks.json")


@dataclass(frozen=True)
class Book:
    """A book that passages come from, as its licence wants it named."""

    title: str
    authors: str
    publisher: str
    url: str


@dataclass(frozen=True)
class Licence:
    """Under which terms the passages may be shown."""

    name: str
    url: str
    notice: str


@dataclass(frozen=True)
class Task:
    """One question to answer from its passages."""

    number: int
    id: str
    query: str
    passages: tuple[str, ...]
    section: str
    book: Book
    licence: Licence


@cache
def all_tasks() -> tuple[Task, ...]:
    """Every task, numbered from one."""
    document = json.loads(FILE.read_text(encoding="utf-8"))
    licence = Licence(**document["licence"])
    books = {name: Book(**book) for name, book in document["books"].items()}
    return tuple(
        Task(
            number=number,
            id=task["id"],
            query=task["query"],
            passages=tuple(task["passages"]),
            section=task["section"],
            book=books[task["book"]],
            licence=licence,
        )
        for number, task in enumerate(document["tasks"], start=1)
    )


def task_numbered(number: int) -> Task | None:
    """The task with this number, if there is one."""
    tasks = all_tasks()
    return tasks[number - 1] if 1 <= number <= len(tasks) else None


PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
ASSIGNMENT_ID = re.compile(r"[A-Z0-9]{1,64}")
SUBMIT_TO = re.compile(
    r"(?P<origin>https?://[^/?#\\@\s]+)(?P<path>(?:/[A-Za-z0-9_:=~-][A-Za-z0-9_.:=~-]*)*)/?"
)
LOOPBACK = ("localhost", "127.0.0.1")


@dataclass(frozen=True)
class Visit:
    """One opening of a task page: a preview, a worker at work, or something that must not be trusted."""

    assignment_id: str = ""
    submit_url: str = ""
    refusal: str = ""

    @property
    def at_work(self) -> bool:
        """Whether somebody accepted the task and may answer it here."""
        return bool(self.submit_url)

    @property
    def preview(self) -> bool:
        """Whether the task is only being looked at."""
        return not self.submit_url and not self.refusal


def marketplace_origins(request: HttpRequest) -> list[str]:
    """Origins whose marketplace may frame our task pages and receive their answers: this installation's own.

    On one's own machine `localhost` and `127.0.0.1` are different origins of the same server.
    """
    own = f"{request.scheme}://{request.get_host()}".lower()
    origins = [own]
    if settings.PUBLIC_URL:
        public = urlsplit(settings.PUBLIC_URL)
        origins.append(f"{public.scheme}://{public.netloc}".lower())
    host = urlsplit(own)
    if host.hostname in LOOPBACK:
        port = f":{host.port}" if host.port else ""
        origins += [f"{host.scheme}://{name}{port}" for name in LOOPBACK]
    return list(dict.fromkeys(origins))


def read_visit(parameters: QueryDict, origins: list[str]) -> Visit:
    """Understand the parameters that a marketplace appends to an external task's address."""
    assignment_id = parameters.get("assignmentId", "")
    if assignment_id in ("", PREVIEW):
        return Visit()
    if not ASSIGNMENT_ID.fullmatch(assignment_id):
        return Visit(
            refusal="The address of this page names an assignment that no marketplace would give out."
        )
    submit_to = parameters.get("turkSubmitTo", "")
    if not submit_to:
        return Visit(refusal="The address of this page does not say which marketplace sent you here.")
    match = SUBMIT_TO.fullmatch(submit_to)
    if match is None or match["origin"].lower() not in origins:
        return Visit(refusal="The address of this page would send your answer to a place we do not know.")
    return Visit(
        assignment_id=assignment_id, submit_url=f"{match['origin']}{match['path']}/mturk/externalSubmit"
    )


@require_safe
@xframe_options_exempt
def answer(request: HttpRequest, number: int) -> HttpResponseBase:
    """Ask for an answer, in the worker's own words, to one question; the marketplace receives it."""
    task = task_numbered(number)
    if task is None:
        raise Http404("There is no task with this number.")
    origins = marketplace_origins(request)
    visit = read_visit(request.GET, origins)

    @csp_replace({"frame-ancestors": [SELF, *origins], "form-action": [SELF, *origins]})
    def page(request: HttpRequest) -> HttpResponse:
        status = 400 if visit.refusal else 200
        return render(request, "examples/answer.html", {"task": task, "visit": visit}, status=status)

    return page(request)


app_name = "examples"
urlpatterns = [
    path("answer/<int:number>/", answer, name="answer"),
    path("tour/", switch_tour, name="tour"),
]
