"""The form of the search page: a question and the options of the search, of both profiles at once.

Without a script the page cannot change its fields, so it has the weights of every profile; those of the
profile that is chosen are read.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django import forms
from django.forms.boundfield import BoundField

from annotation.searching import options
from annotation.searching.conversation import Conversation
from crowd.desk.forms import Form
from retrieval.crown.options import PREFIX, PROFILE, PROFILES, Option, describe, weight_options
from retrieval.crown.parameters import Parameters, defaults
from retrieval.errors import ParametersError
from retrieval.models import Corpus

#: Options that both profiles have.
_SHARED = [option for option in describe() if not option.name.startswith(PREFIX)]


@dataclass(frozen=True, slots=True)
class Weights:
    """The weights of a profile as the page groups them."""

    profile: str
    label: str
    fields: Sequence[BoundField]


class AskForm(Form):
    """A question and the options that it is asked with; the conversation so far is carried beside it."""

    question = forms.CharField(
        required=False,
        label="Your question",
        widget=forms.TextInput(attrs={"form": "ask", "dir": "auto", "enterkeyhint": "search"}),
    )

    def __init__(
        self,
        data: Any = None,
        *,
        corpora: Sequence[Corpus],
        conversation: Conversation,
        question: str = "",
    ) -> None:
        super().__init__(data, initial=_initial(conversation) | {"question": question})
        if conversation.turns:
            self.fields["question"].widget.attrs["autofocus"] = True
        for option in _SHARED:
            self.fields[option.name] = _field(option)
        for profile in PROFILES:
            for option in weight_options(profile):
                self.fields[f"{profile}-{option.name}"] = _field(option)
        self.where = len(corpora) > 1
        if self.where:
            every = [("", "All corpora"), *((corpus.slug, corpus.title or corpus.slug) for corpus in corpora)]
            self.fields["in"] = forms.CharField(
                required=False,
                label="Where to search",
                widget=forms.Select(choices=every, attrs={"form": "ask"}),
            )

    def clean(self) -> dict[str, Any]:
        """Ask the validator that commands and endpoint ask as well; what was not sent has its default."""
        cleaned = super().clean() or {}
        sent = {name: value for name, value in cleaned.items() if name in self.data}
        given = {option.name: sent[option.name] for option in _SHARED if option.name in sent}
        prefix = f"{given.get(PROFILE.name, defaults().profile)}-"
        own = {name.removeprefix(prefix): sent[name] for name in sent if name.startswith(prefix)}
        try:
            self.parameters = Parameters.of({**given, **own})
        except ParametersError as error:
            for name, fault in error.faults.items():
                place = f"{prefix}{name}" if name.startswith(PREFIX) else name
                self.add_error(place if place in self.fields else None, fault)
        return cleaned

    @property
    def question_asked(self) -> str:
        """What was typed."""
        return str(self.cleaned_data["question"])

    @property
    def options_chosen(self) -> str:
        """The options as the address has them."""
        return options.written(self.parameters)

    def carried(self, conversation: Conversation) -> Conversation:
        """The conversation with the options that are typed; with its own where those are refused."""
        return replace(conversation, options=self.options_chosen) if self.is_valid() else conversation

    def shared_fields(self) -> list[BoundField]:
        """Where to search, and the options that every profile has."""
        names = [option.name for option in _SHARED]
        return [self[name] for name in (["in", *names] if self.where else names)]

    def weights(self) -> list[Weights]:
        """The weights of each profile."""
        return [
            Weights(profile, label, [self[f"{profile}-{option.name}"] for option in weight_options(profile)])
            for profile, label in PROFILES.items()
        ]


def _field(option: Option) -> forms.CharField:
    """Any text: the validator says what is wrong with it, and what was typed stays."""
    attrs = {"form": "ask"}
    widget: forms.Widget
    if option.kind == "choice":
        widget = forms.Select(choices=list(option.choices.items()), attrs=attrs)
    else:
        mode = "numeric" if option.kind == "whole" else "decimal"
        widget = forms.TextInput(attrs={**attrs, "inputmode": mode, "size": 6})
    said = option.help if option.kind == "choice" else f"{option.help} From {option.range}."
    return forms.CharField(required=False, label=option.label, help_text=said, widget=widget)


def _initial(conversation: Conversation) -> dict[str, str]:
    """The options of the conversation, or the defaults; of the other profile always those."""
    try:
        chosen = options.read(conversation.options)
    except ParametersError:
        chosen = defaults()
    found: dict[str, str] = {}
    for profile in PROFILES:
        mine = options.flat(chosen if chosen.profile == profile else defaults(profile))
        found |= {f"{profile}-{name}": mine[name] for name in mine if name.startswith(PREFIX)}
    shared = options.flat(chosen)
    names = [option.name for option in _SHARED]
    return {**found, **{name: shared[name] for name in names}, "in": "".join(conversation.corpora[:1])}
