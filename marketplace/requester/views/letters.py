"""What workers say to a requester: letters to read and to answer, and ratings without names."""

from django import forms
from django.contrib import messages
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from marketplace import clock
from marketplace.errors import Refusal
from marketplace.models import Letter
from marketplace.requester import letters as selectors
from marketplace.requester.access import RequesterAccess, for_requester, on_requester, respond, show
from marketplace.services import voices
from marketplace.services.members import Action
from marketplace.services.voices import MAX_BODY

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
        selectors.GRID,
        lambda asked: selectors.letters(access.requester, asked),
        "letters.html",
        place=PLACE,
        waiting=selectors.waiting(access.requester),
        file="letters",
        now=clock.now(),
    )


@require_http_methods(["GET", "HEAD", "POST"])
@on_requester(act=Action.REVIEW)
def letter(request: HttpRequest, access: RequesterAccess, letter: int) -> HttpResponseBase:
    """One letter with its answers; a POST answers it."""
    found = _own(access, letter)
    form = AnswerForm(request.POST or None)
    if form.is_valid():
        try:
            voices.answer(letter=found, body=form.cleaned_data["body"])
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
        letter=found,
        answers=found.answers.order_by("sent_at", "pk"),
        assignment=selectors.assignment(found),
        others=selectors.others(found),
        form=form,
        now=clock.now(),
    )


@require_POST
@on_requester(act=Action.REVIEW)
def settle(request: HttpRequest, access: RequesterAccess, letter: int) -> HttpResponseBase:
    """Put a letter away without an answer, or among the open ones again."""
    found = _own(access, letter)
    if "open" in request.POST:
        voices.mark_unread(letter=found)
        messages.success(request, "The letter is open again.")
        return redirect("requester:letter", access.requester.customer_id, found.pk)
    voices.mark_read(letter=found)
    messages.success(request, "The letter is marked as read.")
    return redirect("requester:letters", access.requester.customer_id)


@require_safe
@for_requester
def ratings(request: HttpRequest, access: RequesterAccess) -> HttpResponseBase:
    """Stars by group, and what workers wrote with them; nobody's id."""
    return respond(
        request,
        access,
        selectors.RATINGS,
        lambda asked: selectors.rated_groups(access.requester, asked),
        "ratings.html",
        place=PLACE,
        complete=selectors.with_words,
        file="ratings",
    )


def _own(access: RequesterAccess, letter: int) -> Letter:
    mine = Letter.objects.filter(requester=access.requester).select_related("worker", "hit_type")
    return get_object_or_404(mine, pk=letter)
