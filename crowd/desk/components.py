"""The page of components: what every page is made of, to look at in light and dark."""

from django import forms
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from web.access import for_members
from web.pages import show

COLOURS = (
    "bg", "surface", "sunken", "text", "muted", "line", "line-strong", "accent", "accent-fill", "accent-soft",
    "accent-half", "ok", "ok-soft", "wait", "wait-soft", "bad", "bad-soft", "info", "info-soft",
)  # fmt: skip
_STAGES = (
    ("Can this be answered?", "closed", 100, "$1.10"),
    ("How correct are the answers?", "open", 40, "$51.00"),
    ("Answer in your own words", "paused", 0, "$0.00"),
)


class _Sample(forms.Form):
    name = forms.CharField(label="Name", help_text="As people see it.")
    kind = forms.ChoiceField(label="Kind", choices=(("judging", "Judging"), ("screening", "Screening")))
    judges = forms.IntegerField(label="Judges per answer", min_value=1)
    instructions = forms.CharField(label="Instructions", widget=forms.Textarea(attrs={"rows": 3}))
    shuffle = forms.BooleanField(label="Shuffle", required=False)


@require_safe
@for_members
def show_components(request: HttpRequest, user: User) -> HttpResponse:
    """Every component in every state; a field with an error among them."""
    form = _Sample(
        {"name": "Pilot", "kind": "judging", "judges": "0", "instructions": "Read all.", "shuffle": "on"}
    )
    return show(request, "components.html", colours=COLOURS, form=form, stages=_STAGES)
