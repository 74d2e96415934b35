"""What workers say to a requester: letters to read and to answer, and ratings without names."""

from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.db.models import Avg, Case, Count, Q, QuerySet, When
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from marketplace import clock
from marketplace.errors import Refusal
from marketplace.lifecycle import feedback
from marketplace.lifecycle.feedback import MAX_BODY
from marketplace.members import Action
from marketplace.models import HITType, Holding, Letter, Rating, Requester
from marketplace.requester.access import (
    RequesterAccess,
    for_requester,
    message_tabs,
    on_requester,
    respond,
    show,
)
from marketplace.site.selectors import SHOWN_FROM
from web import cells
from web.cells import Cell, Link, chip, opens, several, states
from web.kit import Empty, Listing, Own, Page
from web.tables import Choices, Column, Grid, GridRequest, Words

#: What others of the same worker are shown beside a letter.
_OTHERS = 5


def _state(letter: Letter) -> str:
    return "answered" if letter.answered_at else "read" if letter.read_at else "open"


def _draw_worker(cell: Cell) -> object:
    return several(cells.mono(cell), cell.row.worker.closed_at and chip("closed"))


LETTERS = Grid(
    "letters",
    columns=(
        Column("sent", "Sent", "sent_at", by="sent_at", down=True),
        Column("worker", "Worker", "worker.worker_id", by="worker__worker_id", cell=_draw_worker),
        Column("subject", "Subject", by="subject", head=True, cell=opens("requester:letter", "{}", "pk")),
        Column("body", "Message", on_page=False),
        Column(
            "group",
            "Group",
            lambda letter: letter.hit_type.title if letter.hit_type else "",
            by="hit_type__title",
            gaps=True,
        ),
        Column("assignment", "Assignment", "assignment_id", on_page=False),
        Column("state", "State", _state, cell=states({"answered": "good", "read": "", "open": "wait"})),
        Column("answered", "Answered", "answered_at", on_page=False),
    ),
    filters=(
        Choices(
            "state",
            "State",
            {"open": "Open", "answered": "Answered", "read": "Read", "all": "All"},
            tabs=True,
        ),
        Words("q", "Subject, text, worker or assignment"),
    ),
    order="sent",
)
_STATES = {
    "open": Q(answered_at=None, read_at=None),
    "answered": Q(answered_at__isnull=False),
    "read": Q(answered_at=None, read_at__isnull=False),
}


def find_letters(requester: Requester, grid: GridRequest) -> QuerySet[Letter]:
    """The requester's letters, as far as the address asks for them."""
    matches = Letter.objects.filter(requester=requester).select_related("worker", "hit_type")
    if grid["state"] in _STATES:
        matches = matches.filter(_STATES[grid["state"]])
    if search := grid["q"]:
        matches = matches.filter(
            Q(subject__icontains=search)
            | Q(body__icontains=search)
            | Q(worker__worker_id=search)
            | Q(assignment_id=search)
        )
    return matches


def waiting(requester: Requester) -> int:
    """Letters that nobody has read or answered."""
    return Letter.objects.filter(_STATES["open"], requester=requester).count()


def assignment(letter: Letter) -> Holding | None:
    """The assignment that a letter is about, as its worker held it."""
    if not letter.assignment_id:
        return None
    holdings = Holding.objects.filter(
        assignment_id=letter.assignment_id, worker=letter.worker_id, hit__requester=letter.requester_id
    )
    return holdings.select_related("hit").defer("answer", "hit__question").order_by("-pk").first()


def others(letter: Letter) -> QuerySet[Letter]:
    """Other letters of the same worker to the same requester, the latest first."""
    same = Letter.objects.filter(requester=letter.requester_id, worker=letter.worker_id)
    return same.exclude(pk=letter.pk).order_by("-sent_at", "-pk")[:_OTHERS]


@dataclass(frozen=True, slots=True)
class RatedGroup:
    """A group with its ratings: how many for each number of stars, and what was written.

    Where few people rated it, all but their number is kept back: it would have a name.
    """

    hit_type: HITType
    count: int
    mean: float | None
    spread: tuple[int, ...]
    comments: list[str]

    @property
    def bars(self) -> list[tuple[int, int, float]]:
        """Stars from five down, how many gave them, and the share of the longest bar in percent."""
        most = max(self.spread)
        return [
            (stars, count, round(100 * count / most, 1))
            for stars, count in zip(range(5, 0, -1), self.spread, strict=True)
        ]


def _mean(row: RatedGroup) -> float | None:
    return None if row.mean is None else round(row.mean, 2)


RATINGS = Grid(
    "ratings",
    columns=(
        Column("group", "Group", "hit_type.title", by="title"),
        Column("hit_type", "HIT type", "hit_type.type_id", on_page=False),
        Column("count", "Ratings", by="rated", number=True, down=True),
        Column("mean", "Mean", _mean, by="mean", number=True, down=True, gaps=True),
        Column("words", "What workers wrote", "comments"),
    ),
    filters=(Words("q", "Group"),),
    order="count",
)


def rated_groups(requester: Requester, grid: GridRequest) -> QuerySet[HITType]:
    """HIT types of the requester that somebody rated."""
    hit_types = HITType.objects.filter(requester=requester).annotate(rated=Count("ratings"))
    hit_types = hit_types.annotate(mean=Case(When(rated__gte=SHOWN_FROM, then=Avg("ratings__stars"))))
    if search := grid["q"]:
        hit_types = hit_types.filter(title__icontains=search)
    return hit_types.filter(rated__gt=0)


def with_words(hit_types: list[Any]) -> list[RatedGroup]:
    """The rows of a page, in two queries. Words come in the order of their letters, which tells no dates."""
    many = [each.pk for each in hit_types if each.rated >= SHOWN_FROM]
    ratings = Rating.objects.filter(hit_type__in=many)
    spread = {each.pk: [0] * 5 for each in hit_types}
    for row in ratings.order_by().values("hit_type", "stars").annotate(count=Count("pk")):
        spread[row["hit_type"]][5 - row["stars"]] = row["count"]
    comments: dict[int, list[str]] = {each.pk: [] for each in hit_types}
    for pk, comment in ratings.exclude(words="").order_by("words").values_list("hit_type", "words"):
        comments[pk].append(comment)
    return [
        RatedGroup(each, each.rated, each.mean, tuple(spread[each.pk]), comments[each.pk])
        for each in hit_types
    ]


# The form by which a requester answers a letter.


class AnswerForm(forms.Form):
    """The words of an answer; its subject is the letter's."""

    body = forms.CharField(
        label="Your answer",
        max_length=MAX_BODY,
        widget=forms.Textarea(attrs={"rows": 7, "dir": "auto"}),
        help_text="It goes to the inbox of the worker on the site. There is no e-mail.",
    )


PLACE = "messages"


@require_safe
@for_requester
def letters(request: HttpRequest, access: RequesterAccess) -> HttpResponseBase:
    """Letters of workers, those that wait first; as CSV too."""
    return respond(
        request,
        access,
        LETTERS,
        lambda grid: find_letters(access.requester, grid),
        _describe_letters(access),
        place=PLACE,
        file="letters",
    )


def _describe_letters(access: RequesterAccess) -> Page:
    count = waiting(access.requester)
    said = f"{count} wait{'s' if count == 1 else ''} for you." if count else "No message waits for an answer."
    ways = "Workers can write to you from the preview of a group, while they work, and from their history. "
    every = Link("Show all letters", "?state=all")
    empty = Empty("No open letter", (ways, "What they send appears here. ", every))
    return Page(
        "Messages",
        [Listing("Which letters to show", "letter", "letters", empty)],
        lead=f"What workers write to you. {said}",
        tabs=message_tabs(access, "Letters"),
    )


@require_http_methods(["GET", "HEAD", "POST"])
@on_requester(act=Action.REVIEW)
def letter(request: HttpRequest, access: RequesterAccess, letter: int) -> HttpResponseBase:
    """One letter with its answers; a POST answers it."""
    row = _own(access, letter)
    form = AnswerForm(request.POST or None)
    if form.is_valid():
        try:
            feedback.answer(letter=row, body=form.cleaned_data["body"])
        except Refusal as refusal:
            form.add_error(None, refusal.message)
        else:
            messages.success(request, "Your answer is in the inbox of the worker.")
            return redirect("requester:letters", access.requester.customer_id)
    return show(
        request,
        "letter.html",
        access,
        place=PLACE,
        letter=row,
        answers=row.answers.order_by("sent_at", "pk"),
        assignment=assignment(row),
        others=others(row),
        form=form,
        now=clock.now(),
    )


@require_POST
@on_requester(act=Action.REVIEW)
def settle(request: HttpRequest, access: RequesterAccess, letter: int) -> HttpResponseBase:
    """Put a letter away without an answer, or among the open ones again."""
    row = _own(access, letter)
    if "open" in request.POST:
        feedback.mark_unread(letter=row)
        messages.success(request, "The letter is open again.")
        return redirect("requester:letter", access.requester.customer_id, row.pk)
    feedback.mark_read(letter=row)
    messages.success(request, "The letter is marked as read.")
    return redirect("requester:letters", access.requester.customer_id)


@require_safe
@for_requester
def ratings(request: HttpRequest, access: RequesterAccess) -> HttpResponseBase:
    """Stars by group, and what workers wrote with them; nobody's id."""
    return respond(
        request,
        access,
        RATINGS,
        lambda grid: rated_groups(access.requester, grid),
        Page(
            "Ratings",
            [Own("marketplace/requester/ratings.html")],
            lead="What workers think of your groups. You never learn who gave which rating.",
            tabs=message_tabs(access, "Ratings"),
        ),
        place=PLACE,
        complete=with_words,
        file="ratings",
    )


def _own(access: RequesterAccess, letter: int) -> Letter:
    mine = Letter.objects.filter(requester=access.requester).select_related("worker", "hit_type")
    return get_object_or_404(mine, pk=letter)
