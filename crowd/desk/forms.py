"""Small forms of the desk."""

import uuid
from decimal import Decimal
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy
from pydantic import ValidationError

from core.money import dollars
from core.notices.models import Wish
from core.projects.models import Membership, Project
from crowd.desk import modelform
from crowd.models import Stage
from crowd.panelmodels import LEAST_PERCENT, MOST_PERCENT, MOST_SLOTS
from crowd.study.documents import expected_minutes
from crowd.study.schema import ProjectFields
from web.forms import MoneyField, RevisedForm


class Form(forms.Form):
    """A form without colons behind its labels, whose amounts are in a currency."""

    def __init__(self, data: Any = None, *, currency: str = "", **options: Any) -> None:
        super().__init__(data, label_suffix="", **options)
        for field in self.fields.values():
            if isinstance(field, MoneyField):
                field.currency = currency


class OnceForm(Form):
    """A form that does its work once, however often it is sent: it carries its own name for that."""

    once = forms.UUIDField(widget=forms.HiddenInput, initial=uuid.uuid4)

    def purpose(self) -> str:
        """The name under which the operation is planned."""
        return f"desk {self.cleaned_data['once'].hex}"


class ProjectForm(RevisedForm, Form):
    """A project, by the model that also reads a study's file."""

    def __init__(self, data: Any = None, *, project: Project | None = None, budgets: bool = True) -> None:
        initial = project and {
            "slug": project.slug,
            "title": project.title,
            "language": project.language,
            "licence": project.licence,
            "wage_floor": dollars(project.wage_floor_cents),
            "budget": dollars(project.budget_cents),
        }
        super().__init__(data, initial=initial)
        self.fields.update(modelform.fields_of(ProjectFields, leave_out=frozenset({"members"})))
        if project:
            self.fields["slug"].disabled = True
            self.shows(project, ("title", "language", "licence", "wage_floor_cents", "budget_cents"))

    def clean(self) -> dict[str, Any]:
        """Ask the model."""
        cleaned = super().clean() or {}
        if not self.errors:
            data = modelform.data_of(cleaned, ProjectFields)
            try:
                self.model = ProjectFields.model_validate(data)
            except ValidationError as error:
                modelform.add_errors(self, error, ProjectFields, data)
        return cleaned


class MemberForm(RevisedForm, Form):
    """Somebody with an account, and their role; `member` is the role that they have already."""

    username = forms.CharField(max_length=150, label=gettext_lazy("User name"))
    role = forms.ChoiceField(
        choices=[
            (Membership.Role.VIEWER, "viewer: looks"),
            (Membership.Role.MANAGER, "manager: works"),
            (Membership.Role.OWNER, "owner: also spends and invites"),
        ]
    )

    def __init__(self, data: Any = None, *, member: Membership | None = None) -> None:
        initial = member and {"username": member.user.get_username(), "role": member.role}
        super().__init__(data, initial=initial)
        self.shows(member, ("role",))


class WishForm(RevisedForm, Form):
    """Which notices of a project somebody wants by e-mail."""

    post = forms.ChoiceField(
        choices=Wish.Post.choices, widget=forms.RadioSelect, label=gettext_lazy("Send me, of this project")
    )

    def __init__(self, data: Any = None, *, wish: Wish | None) -> None:
        super().__init__(data, initial={"post": wish.post if wish else Wish.Post.PRESSING})
        self.shows(wish, ("post",))


class BudgetForm(RevisedForm, Form):
    """A new cap of a stage."""

    budget = MoneyField(
        label=gettext_lazy("New budget"), help_text=gettext_lazy("Never below what is spent or reserved.")
    )

    def __init__(self, data: Any = None, *, stage: Stage) -> None:
        super().__init__(data, initial={"budget": stage.budget_cents}, currency=stage.endpoint.currency)
        self.shows(stage, ("budget_cents",))


class MinutesForm(RevisedForm, Form):
    """How long the researcher thinks one HIT of a stage takes."""

    minutes = forms.DecimalField(
        min_value=Decimal("0.1"),
        max_value=600,
        decimal_places=1,
        required=False,
        label=gettext_lazy("Minutes that one HIT takes"),
        help_text=gettext_lazy(
            "Your guess, to see what an hour pays. Try the task yourself first. It is kept with the "
            "stage; empty: none."
        ),
        widget=forms.NumberInput(attrs={"size": 6, "step": "0.1"}),
    )

    def __init__(self, data: Any = None, *, stage: Stage) -> None:
        super().__init__(data, initial={"minutes": expected_minutes(stage)})
        self.shows(stage, ("expected_seconds",))


class OpenForm(Form):
    """The amount, typed to confirm; asked for where the money is real."""

    typed = MoneyField(required=False, label=gettext_lazy("Amount"))


class CopyForm(Form):
    """The name of a copy."""

    slug = forms.SlugField(
        label=gettext_lazy("Short name of the copy"),
        max_length=80,
        help_text=gettext_lazy("Used in addresses."),
    )
    title = forms.CharField(label=gettext_lazy("Title of the copy"), max_length=200)


class WhyForm(Form):
    """A reason that somebody will read later."""

    why = forms.CharField(max_length=300, required=False, label=gettext_lazy("Why (for the log)"))


class PanelTermsForm(Form):
    """What a study at a panel pays beside whole rewards."""

    screen_out = MoneyField(
        required=False,
        label=gettext_lazy("Paid to each who is screened out"),
        help_text=gettext_lazy(
            "Less than the reward; empty: people who do not fit are asked to return, unpaid."
        ),
    )
    slots = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=MOST_SLOTS,
        label=gettext_lazy("At most so many screen-outs"),
        widget=forms.NumberInput(attrs={"size": 8}),
        help_text=gettext_lazy(
            "Their money is reserved with the study. The panel pauses the study after the last one."
        ),
    )
    pays_in_part = forms.BooleanField(
        required=False,
        label=gettext_lazy("A part of the reward can be paid"),
        help_text=gettext_lazy("Only where the panel enabled it for your workspace."),
    )


class SlotsForm(Form):
    """How many paid screen-outs a study that runs may have."""

    slots = forms.IntegerField(
        min_value=1,
        max_value=MOST_SLOTS,
        label=gettext_lazy("Paid screen-outs in all"),
        widget=forms.NumberInput(attrs={"size": 8}),
    )


class PartForm(Form):
    """A share of a reward for a person who did a part of the work."""

    percent = forms.IntegerField(
        min_value=LEAST_PERCENT, max_value=MOST_PERCENT, label=gettext_lazy("Percent of the reward")
    )
    note = forms.CharField(max_length=1000, required=False, label=gettext_lazy("Why, for the participant"))


class AmountForm(Form):
    """What was paid, as the panel's own pages say."""

    amount = MoneyField(label=gettext_lazy("What was paid"), least=1)


class LetterForm(Form):
    """A message to participants of a panel, which has no subject there."""

    to = forms.ChoiceField(label=gettext_lazy("To"))
    text = forms.CharField(
        max_length=4096,
        widget=forms.Textarea(attrs={"rows": 6}),
        label=gettext_lazy("Message"),
        help_text=gettext_lazy(
            "As participants read it. It is sent once; a lost answer is never tried again by itself."
        ),
    )

    def __init__(self, data: Any = None, *, choices: list[tuple[str, str]], **options: Any) -> None:
        super().__init__(data, **options)
        self.fields["to"].choices = choices  # type: ignore[attr-defined]  # a field of choices


class ReasonForm(Form):
    """A reason that the worker reads."""

    reason = forms.CharField(
        max_length=900,
        widget=forms.Textarea(attrs={"rows": 3}),
        label=gettext_lazy("Reason"),
        help_text=gettext_lazy("The worker reads this."),
    )

    def __init__(self, *arguments: Any, least: int = 1, **named: Any) -> None:
        """`least` are characters that the marketplace asks for."""
        super().__init__(*arguments, **named)
        if least > 1:
            self.fields["reason"].widget.attrs["minlength"] = least
            self.fields["reason"].help_text = f"The worker reads this: at least {least} characters."


class WhyReadmitForm(Form):
    """Why an excluded worker may work again."""

    reason = forms.CharField(
        max_length=300,
        widget=forms.Textarea(attrs={"rows": 2}),
        label=gettext_lazy("Reason"),
        help_text=gettext_lazy("For the log of events."),
    )


class NoteForm(Form):
    """Words to the worker, if there is anything to say."""

    note = forms.CharField(max_length=900, required=False, label=gettext_lazy("Note to the worker"))


class BonusForm(OnceForm):
    """Money and a reason."""

    amount = MoneyField(label=gettext_lazy("Amount"), help_text=gettext_lazy("The fee comes on top."))
    reason = forms.CharField(
        max_length=900,
        widget=forms.Textarea(attrs={"rows": 2}),
        label=gettext_lazy("Reason"),
        help_text=gettext_lazy("The worker reads it."),
    )


class CompensateForm(Form):
    """Pay for a broken session."""

    amount = MoneyField(label=gettext_lazy("Amount"), help_text=gettext_lazy("The fee comes on top."))
    reason = forms.CharField(
        max_length=900,
        widget=forms.Textarea(attrs={"rows": 2}),
        label=gettext_lazy("Reason"),
        help_text=gettext_lazy("The worker reads it."),
    )


class HoursForm(Form):
    """How much longer a HIT stays on offer."""

    hours = forms.IntegerField(
        min_value=1, max_value=24 * 365, initial=24, label=gettext_lazy("More hours on offer")
    )


class PlacesForm(OnceForm):
    """How many more people a HIT takes."""

    places = forms.IntegerField(min_value=1, max_value=1000, initial=1, label=gettext_lazy("More places"))


class MessageForm(Form):
    """A letter to workers."""

    subject = forms.CharField(max_length=200, label=gettext_lazy("Subject"))
    text = forms.CharField(
        max_length=4096, widget=forms.Textarea(attrs={"rows": 8}), label=gettext_lazy("Text")
    )


class ResolveForm(Form):
    """What became of an operation that nobody answered."""

    happened = forms.ChoiceField(
        choices=[("yes", "It happened"), ("no", "It did not happen")],
        widget=forms.RadioSelect,
        label=gettext_lazy("What became of it?"),
    )
    ref = forms.CharField(
        max_length=120,
        required=False,
        label=gettext_lazy("Id at the marketplace"),
        help_text=gettext_lazy("Of the HIT or payment that you found there; needed if a HIT was published."),
    )
    why = forms.CharField(
        max_length=500,
        label=gettext_lazy("How do you know?"),
        help_text=gettext_lazy("Stays in the project's log with your name."),
    )
