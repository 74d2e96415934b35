"""One worker's history, feedback, earnings and inbox; what they say in ratings and letters to requesters."""

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.text import format_lazy
from django.utils.translation import gettext, gettext_lazy
from django.views.decorators.http import require_http_methods, require_safe

from marketplace import clock
from marketplace.errors import Refusal
from marketplace.lifecycle import feedback as services
from marketplace.lifecycle.feedback import MAX_BODY, MAX_COMMENT, MAX_SUBJECT
from marketplace.models import HITType, Holding, Message, Rating, Requester, Worker
from marketplace.site import records
from marketplace.site.access import for_workers, page
from marketplace.site.lookup import entity_id, group_named, numbered, settle_worker
from marketplace.site.records import FEEDBACK_KINDS, balances, list_feedback, with_feedback
from marketplace.site.selectors import SHOWN_FROM
from web.charts import stack_bars


@require_safe
@for_workers
def history(request: HttpRequest, worker: Worker) -> HttpResponse:
    """What the worker did, with state, money and feedback; filtered by the URL."""
    now = clock.now()
    state = request.GET.get("state", "")
    state = state if state in records.FILTERS else "all"
    settle_worker(worker, now)
    numbered_page = numbered(records.history(worker=worker, states=records.FILTERS[state]), request)
    return page(request, "history.html", worker=worker, now=now, pages=numbered_page, wanted=state)


@require_safe
@for_workers
def feedback(request: HttpRequest, worker: Worker) -> HttpResponse:
    """What requesters said of the worker's work, and what became of it with each of them."""
    now = clock.now()
    kind = request.GET.get("kind", "")
    kind = kind if kind in FEEDBACK_KINDS else "all"
    settle_worker(worker, now)
    pages = numbered(list_feedback(worker=worker, kind=kind), request)
    everything, requesters = balances(worker=worker)
    return page(
        request,
        "feedback.html",
        worker=worker,
        now=now,
        pages=pages,
        said=with_feedback(pages.object_list),
        everything=everything,
        requesters=requesters,
        kinds=FEEDBACK_KINDS,
        wanted=kind,
    )


@require_safe
@for_workers
def earnings(request: HttpRequest, worker: Worker) -> HttpResponse:
    """Money per day and per hour, over a period chosen in the URL."""
    now = clock.now()
    days_text = request.GET.get("days", "")
    days = int(days_text) if days_text in map(str, records.PERIODS) else records.PERIODS[1]
    settle_worker(worker, now)
    earned = records.earnings(worker=worker, days=days, now=now)
    return page(
        request,
        "earnings.html",
        worker=worker,
        now=now,
        earnings=earned,
        unpaid_cents=records.standing(worker).unpaid_cents,
        chart=stack_bars(
            (day, {"earned": day.earned_cents, "pending": day.pending_cents}) for day in earned.days
        ),
        days=days,
        periods=records.PERIODS,
    )


@require_http_methods(["GET", "HEAD", "POST"])
@for_workers
def inbox(request: HttpRequest, worker: Worker) -> HttpResponse:
    """Messages of requesters; a POST marks one of them, or all, as read."""
    now = clock.now()
    messages = records.inbox(worker=worker)
    if request.method == "POST":
        unread = messages.filter(read_at=None)
        named = request.POST.get("message", "")
        if named.isascii() and named.isdigit() and len(named) < 19:
            unread = unread.filter(pk=int(named))
        unread.update(read_at=now)
        return redirect("site:inbox")
    return page(request, "inbox.html", worker=worker, now=now, pages=numbered(messages, request))


# Forms by which workers rate a group and write to its requester.

STARS = {
    5: gettext_lazy("very good"),
    4: gettext_lazy("good"),
    3: gettext_lazy("fair"),
    2: gettext_lazy("poor"),
    1: gettext_lazy("very poor"),
}


class RatingForm(forms.Form):
    """One to five stars, and words for the requester."""

    stars = forms.TypedChoiceField(
        label=gettext_lazy("How was it to work on these HITs?"),
        choices=lambda: [(stars, f"{stars}, {words}") for stars, words in STARS.items()],
        coerce=int,
        widget=forms.RadioSelect,
        help_text=gettext_lazy(
            "Think of the instructions, the pay for the time it took, and how fair the decisions were."
        ),
        error_messages={"required": gettext_lazy("Choose from 1 to 5.")},
    )
    words = forms.CharField(
        label=gettext_lazy("What should the requester know?"),
        required=False,
        max_length=MAX_COMMENT,
        widget=forms.Textarea(attrs={"rows": 4, "dir": "auto"}),
        help_text=format_lazy(
            gettext_lazy("If you like, in at most {most} characters. Only the requester reads it."),
            most=MAX_COMMENT,
        ),
    )


class LetterForm(forms.Form):
    """A message to a requester."""

    subject = forms.CharField(
        label=gettext_lazy("Subject"), max_length=MAX_SUBJECT, widget=forms.TextInput(attrs={"dir": "auto"})
    )
    body = forms.CharField(
        label=gettext_lazy("Message"),
        max_length=MAX_BODY,
        widget=forms.Textarea(attrs={"rows": 8, "dir": "auto"}),
        help_text=gettext_lazy(
            "Say what happened and what you would like to be done. Links and names of files stay text."
        ),
    )


@require_http_methods(["GET", "HEAD", "POST"])
@for_workers
def rate(request: HttpRequest, worker: Worker, group_id: str) -> HttpResponse:
    """Rate a group one has worked on, change the rating, or take it back."""
    now = clock.now()
    hit_type = group_named(group_id)
    if request.method == "POST" and "take_back" in request.POST:
        services.take_back(worker=worker, hit_type=hit_type)
        messages.success(request, gettext("Your rating is deleted."))
        return redirect("site:rate", group_id=hit_type.group_id)
    rating = Rating.objects.filter(worker=worker, hit_type=hit_type).first()
    initial = {"stars": rating.stars, "words": rating.words} if rating else None
    form = RatingForm(request.POST or None, initial=initial)
    if form.is_valid():
        fields = form.cleaned_data
        try:
            services.rate(
                worker=worker,
                hit_type=hit_type,
                stars=fields["stars"],
                comment=fields["words"].strip(),
                now=now,
            )
        except Refusal as refusal:
            form.add_error(None, refusal.message)
        else:
            messages.success(
                request, gettext("Thank you, your rating is kept. You can change it at any time.")
            )
            return redirect("site:history")
    return page(
        request,
        "rate.html",
        worker=worker,
        now=now,
        hit_type=hit_type,
        form=form,
        rating=rating,
        allowed=bool(rating) or services.may_rate(worker=worker, hit_type=hit_type),
        shown_from=SHOWN_FROM,
    )


@require_http_methods(["GET", "HEAD", "POST"])
@for_workers
def contact(request: HttpRequest, worker: Worker, group_id: str) -> HttpResponse:
    """Write to the requester of a group, about one's assignment where the address names one."""
    hit_type = group_named(group_id)
    assignment_id = entity_id(request.GET.get("assignment_id"))
    if assignment_id and not _is_theirs(worker, hit_type, assignment_id):
        raise Http404("You did not hold this assignment.")
    return _write(
        request, worker, hit_type.requester, hit_type=hit_type, assignment_id=assignment_id, subject=""
    )


def _is_theirs(worker: Worker, hit_type: HITType, assignment_id: str) -> bool:
    mine = Holding.objects.filter(worker=worker, assignment_id=assignment_id)
    return mine.filter(hit__hit_type=hit_type).exists()


@require_http_methods(["GET", "HEAD", "POST"])
@for_workers
def reply(request: HttpRequest, worker: Worker, message: int) -> HttpResponse:
    """Write back to the requester who sent a message."""
    received = get_object_or_404(
        Message.objects.select_related("requester", "answers__hit_type"), worker=worker, pk=message
    )
    about = received.answers
    subject = received.subject if received.subject.startswith("Re: ") else f"Re: {received.subject}"
    return _write(
        request,
        worker,
        received.requester,
        hit_type=about.hit_type if about else None,
        assignment_id=about.assignment_id if about else "",
        subject=subject[: services.MAX_SUBJECT],
        received=received,
    )


def _write(
    request: HttpRequest,
    worker: Worker,
    requester: Requester,
    *,
    hit_type: HITType | None,
    assignment_id: str,
    subject: str,
    received: Message | None = None,
) -> HttpResponse:
    now = clock.now()
    form = LetterForm(request.POST or None, initial={"subject": subject})
    if form.is_valid():
        try:
            services.write(
                worker=worker,
                requester=requester,
                subject=form.cleaned_data["subject"],
                body=form.cleaned_data["body"],
                hit_type=hit_type,
                assignment_id=assignment_id,
                now=now,
            )
        except Refusal as refusal:
            form.add_error(None, refusal.message)
        else:
            messages.success(request, gettext("Your message is sent. An answer comes to your inbox."))
            return redirect("site:sent")
    return page(
        request,
        "contact.html",
        worker=worker,
        now=now,
        requester=requester,
        hit_type=hit_type,
        assignment_id=assignment_id,
        received=received,
        form=form,
    )


@require_safe
@for_workers
def sent(request: HttpRequest, worker: Worker) -> HttpResponse:
    """The worker's letters, each with its answers."""
    pages = numbered(records.letters(worker=worker), request)
    return page(request, "sent.html", worker=worker, now=clock.now(), pages=pages)
