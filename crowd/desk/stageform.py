"""The form of a stage: what every stage has, what the marketplace lists, and the options of its kind."""

from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from copy import copy
from dataclasses import dataclass
from decimal import Decimal
from itertools import count
from pathlib import PurePath
from typing import Any, cast

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.http import QueryDict
from django.utils.text import slugify
from pydantic import BaseModel, ValidationError

from core.money import cents, entered_cents
from core.projects.models import Project
from crowd.desk import modelform
from crowd.desk.languageform import PREFIX, LanguageFields, LanguagePart
from crowd.errors import CrowdError
from crowd.kinds import Listing, StageConfig, StageKind, kind_named, made_listing
from crowd.models import Endpoint, Stage
from crowd.rights import usable_endpoints
from crowd.selectors.stage_status import allotted_cents, over_budget
from crowd.services.pictures import MOST_BYTES, add_picture, missing_pictures, pictures_in
from crowd.services.publication import PER, Estimate, Terms, estimate
from crowd.services.stages import FIXED_ONCE_OPENED, has_fixed_terms, is_made, listing_of
from crowd.sources import is_unpaid
from crowd.study.documents import COLUMNS, stage_columns, stage_document
from crowd.study.schema import StageFields, TaskFields
from crowd.texts import LANGUAGES
from web.cells import amount
from web.forms import RevisedForm

# What a form's entries would cost, as far as they make sense already.

_MOST_PEOPLE, _MOST_SECONDS = 10_000, 36_000


def cost_of(
    entered: Callable[[str], Any],
    endpoint: Endpoint | None,
    *,
    units: int,
    wage_floor_cents: int,
    unpaid: bool = False,
) -> Estimate | None:
    """The cost of `units` units by what was entered; None while numbers are missing or wrong."""
    try:
        minutes = entered("expected_minutes")
        seconds = round(Decimal(str(minutes)) * 60) if minutes else None
        terms = Terms(
            units_per_hit=int(entered("units_per_hit") or 1),
            redundancy=int(entered("redundancy")),
            reward_cents=entered_cents(str(entered("reward"))),
            fee_profile=endpoint.fee_profile if endpoint else "none-1",
            seconds=seconds if seconds is not None and 0 < seconds <= _MOST_SECONDS else None,
            unpaid=unpaid,
        )
    except (ValueError, ArithmeticError, TypeError):
        return None
    if not (0 < terms.units_per_hit <= PER and 0 < terms.redundancy <= _MOST_PEOPLE):
        return None
    return estimate(terms, units=units, wage_floor_cents=wage_floor_cents)


def is_without_pay(endpoint: Endpoint | None, reward: object) -> bool:
    """Whether people come by study links, and no money is entered for them."""
    is_link = endpoint is not None and endpoint.protocol == Endpoint.Protocol.LINK
    return is_link and str(reward or "0").strip("0. ") == ""


# Texts for workers on forms: made from what is entered, until a person writes others.
#
# Beside each text is a hidden copy of what was made when the page was drawn. A text that still equals its
# copy is made again from what is sent; the answer's page shows it, before anything is published.

#: Fields of `TaskFields` that kinds make.
MADE = ("title", "description")
_HELP = "Made from what you enter, and again when that changes, unless you write your own. Empty: made."


def add_copies(form: forms.Form, listing: Listing, *, texts: str, copies: str) -> None:
    """Hidden fields for what is made, under names with `copies` before them; `texts` is before the texts'."""
    if not listing.title:
        return
    for name in MADE:
        field = form.fields[texts + name]
        field.help_text = f"{field.help_text} {_HELP}"
        form.fields[copies + name] = forms.CharField(
            required=False, widget=forms.HiddenInput, initial=getattr(listing, name)
        )


def follow_entered(form: forms.Form, listing: Listing, *, texts: str, copies: str) -> None:
    """Put what is made now in place of texts that equal their copies, as cleaned and as drawn again."""
    form_data = cast(MutableMapping[str, Any], copy(form.data))
    form.data = form_data
    for name in MADE:
        text, copied, new = texts + name, copies + name, getattr(listing, name)
        if copied not in form.fields:
            continue
        old = form.cleaned_data.get(copied) or form.fields[copied].initial
        if is_made(form.cleaned_data.get(text) or "", old):
            form.cleaned_data[text] = form_data[text] = new
        form.cleaned_data[copied] = form_data[copied] = new


_TASK, _CONFIG, _MADE = "task.", "config.", "made."
#: The option that may change while people work; it has versions.
_INSTRUCTIONS = f"{_CONFIG}instructions"
_PICTURE = "picture"
_RULES = (
    "Rules that all must hold; none: everybody. Country: codes such as US, DE, with In or NotIn. Approval "
    "rate, in percent, and approved count: whole numbers. Passed: Exists, and the short name of a training."
)
#: Fields of the form that hold each fixed column.
_FIXED = {"reward_cents": "reward"}
_FIRST, _LAST = ("title", "endpoint"), ("units_per_hit",)
_PEOPLE = ("redundancy", "expected_minutes", "reward", "budget")
_FOLDED = (
    ("Who may work", ("max_hits_per_worker", "eligibility", "apart_from")),
    (
        "Checks and approval",
        ("checks_per_hit", "approve", "hold_failed_checks", "auto_approve_after", "work_time", "open_for"),
    ),
)
_ADVANCED = ("slug", "seed")


@dataclass(frozen=True, slots=True)
class Group:
    """Fields under a heading; a folded one opens by itself where something in it is wrong."""

    heading: str
    fields: list[forms.BoundField]
    folded: bool = False
    languages: LanguageFields | None = None

    @property
    def name(self) -> str:
        """What it goes by in addresses."""
        return slugify(self.heading)

    @property
    def wrong(self) -> bool:
        """Some field has an error."""
        return any(field.errors for field in self.fields)


class KnownNames(forms.MultipleChoiceField):
    """Boxes for names that the project has, and for those of `unknown` that it lost, which are refused."""

    widget = forms.CheckboxSelectMultiple

    def __init__(self, *, unknown: frozenset[str], **options: Any) -> None:
        super().__init__(required=False, **options)
        self.unknown = unknown

    def validate(self, value: Any) -> None:
        """As ever, and nothing that is not there."""
        super().validate(value)
        if gone := sorted(self.unknown.intersection(value)):
            raise forms.ValidationError(f"The project has none called {gone[0]!r}. Untick it.")


class StageForm(RevisedForm, forms.Form):
    """Made from the models that also read a study's file, so that both take and refuse the same."""

    def __init__(
        self,
        data: Any = None,
        *,
        kind: StageKind,
        stage: Stage | None = None,
        project: Project | None = None,
        budgets: bool = True,
        terms: Mapping[str, Any] | None = None,
    ) -> None:
        first = _initial(stage) if stage else _suggested(kind) | _entries(terms or {})
        super().__init__(data, initial=first, label_suffix="")
        self.kind, self.stage = kind, stage
        self.project = stage.project if stage else project
        own = modelform.fields_of(
            StageFields, leave_out=frozenset({"kind", "endpoint", "sources", "panel", "task", "config"})
        )
        own["endpoint"] = forms.ModelChoiceField(
            usable_endpoints([self.project] if self.project else [], used_by=stage).order_by(
                "real_money", "name"
            ),
            to_field_name="name",
            label="Marketplace",
            help_text="Where it is published.",
            empty_label=None,
        )
        own["endpoint"].label_from_instance = endpoint_words  # type: ignore[attr-defined]
        for prefix, model in (("", None), (_TASK, TaskFields), (_CONFIG, kind.config)):
            fields = own if model is None else modelform.fields_of(model, leave_out=frozenset({LANGUAGES}))
            self.fields.update({prefix + name: field for name, field in fields.items()})
        self._offer_names(self.project, stage.config if stage else {})
        for name in TaskFields.model_fields:
            field = self.fields[_TASK + name]
            field.label = f"{field.label} in the list"
        self.fixed = bool(stage and has_fixed_terms(stage))
        if not self.fixed:
            listing = listing_of(stage) if stage else _first_listing(kind)
            add_copies(self, listing, texts=_TASK, copies=_MADE)
        own["eligibility"].help_text = _RULES
        if stage is None:
            own["slug"].help_text = f"{own['slug'].help_text} Empty: made of the title."
        if not budgets:
            del self.fields["budget"]
        elif self.project:
            others, budget = allotted_cents(self.project, without=stage), self.project.budget_cents
            help_text = f"The other stages have {amount(others)} of the project's {amount(budget)}."
            self.fields["budget"].help_text += f" {help_text}"
        if kind.config.markdown:
            self.fields[_PICTURE] = forms.FileField(
                required=False,
                label="Picture",
                help_text=f"PNG, JPEG, GIF or WebP, at most {MOST_BYTES // 1000} kB. It comes to the end of "
                "the instructions: move it, and write what it shows.",
                widget=forms.FileInput(attrs={"accept": "image/png,image/jpeg,image/gif,image/webp"}),
            )
        if stage:
            self.shows(stage, (name for name in COLUMNS if budgets or name != "budget_cents"))
        stored = stage.config.get(LANGUAGES, {}) if stage else {}
        self.languages = LanguageFields(self, kind.config, stored, is_fixed=self.fixed)
        self._fix()

    def _follow(self, config: StageConfig) -> None:
        """Make texts again that no person wrote, for what is entered now."""
        listing = made_listing(
            self.kind,
            units_per_hit=self.cleaned_data.get("units_per_hit") or 1,
            checks_per_hit=self.cleaned_data.get("checks_per_hit") or 0,
            minutes=self.cleaned_data.get("expected_minutes"),
            config=config,
        )
        follow_entered(self, listing, texts=_TASK, copies=_MADE)

    def _offer_names(self, project: Project | None, stored: Mapping[str, Any]) -> None:
        """Options that name things of the project get boxes; what is stored and not there can be unticked."""
        for option, names in (self.kind.choices(project) if project else {}).items():
            unknown = {name: f"{name}: not there" for name in stored.get(option, ()) if name not in names}
            if not names and not unknown:
                continue
            plain = self.fields[_CONFIG + option]
            self.fields[_CONFIG + option] = KnownNames(
                choices=list({**names, **unknown}.items()),
                unknown=frozenset(unknown),
                label=plain.label,
                help_text=str(plain.help_text).removesuffix(" One in each line."),
            )

    def _fix(self) -> None:
        """What cannot change any more is shown and not taken."""
        fixed = {"slug"} if self.stage else set()
        if self.fixed:
            fixed |= {_FIXED.get(name, name) for name in FIXED_ONCE_OPENED}
            fixed |= {*self._options()} - {_INSTRUCTIONS} | self.languages.fixed()
        for name in fixed & set(self.fields):
            self.fields[name].disabled = True

    def groups(self) -> Iterator[Group]:
        """Fields under their headings; folded are those that have good values already."""
        config = self._options()
        rare = [name for name in config if name.removeprefix(_CONFIG) in self.kind.config.advanced]
        texts = [name for name in self.fields if name.startswith(_TASK) or name in (_INSTRUCTIONS, _PICTURE)]
        asked = [name for name in config if name not in (*rare, *texts)]
        # What is as wide as the form comes last, so that the others stand in pairs.
        wide = [name for name in asked if self[name].use_fieldset]
        narrow = [name for name in asked if name not in wide]
        yield self._group("What is asked", (*_FIRST, *narrow, *_LAST, *wide))
        yield self._group("People and pay", _PEOPLE)
        # Of a stage with fixed terms, texts are what may still change.
        yield self._group("Texts for workers", texts, folded=not self.fixed and not self.adds_picture)
        if self.languages.model is not None:
            named = [self[name] for name in self.fields if name.startswith(PREFIX)]
            yield Group("In other languages", named, folded=True, languages=self.languages)
        for heading, names in _FOLDED:
            yield self._group(heading, names, folded=True)
        yield self._group("Rare options", (*rare, *_ADVANCED), folded=True)

    @property
    def adds_picture(self) -> bool:
        """It was sent for the picture that comes with it: nothing else is stored."""
        return self.is_bound and self.data.get("step") == _PICTURE

    def _options(self) -> list[str]:
        """Fields of the kind's options, but for their texts in further languages."""
        return [name for name in self.fields if name.startswith(_CONFIG) and not name.startswith(PREFIX)]

    @property
    def language_parts(self) -> list[LanguagePart]:
        """Its further languages, with what is missing in each."""
        config = self.stage.config if self.stage else None
        if self.is_bound:
            config = self._columns.get("config") if self.is_valid() else None
        options = None if config is None else self.kind.config.model_validate(config)
        return self.languages.parts(options, self.own_language)

    @property
    def further_languages(self) -> list[tuple[str, str]]:
        """Languages that can be added."""
        return self.languages.choices(self.own_language)

    @property
    def own_language(self) -> str:
        """The project's."""
        return self.project.language if self.project else "en"

    def _group(self, heading: str, names: Sequence[str], *, folded: bool = False) -> Group:
        return Group(heading, [self[name] for name in names if name in self.fields], folded)

    def cost(self, wage_floor_cents: int) -> "CostView":
        """What is entered would cost, for a thousand units where the kind cannot tell how many there are."""
        name = self["endpoint"].value()
        endpoint = Endpoint.objects.filter(name=name).first() if name else Endpoint.objects.first()
        units = self._planned()
        entered = cost_of(
            lambda field: self[field].value(),
            endpoint,
            units=PER if units is None else units,
            wage_floor_cents=wage_floor_cents,
            unpaid=self._unpaid(endpoint),
        )
        return CostView(entered, units is not None, endpoint.currency if endpoint else "")

    def _unpaid(self, endpoint: Endpoint | None) -> bool:
        """Whether what is entered would earn people no money."""
        if self.stage is not None:
            return is_unpaid(self.stage)
        return is_without_pay(endpoint, self["reward"].value())

    def caution(self) -> str:
        """That the budget as it is entered goes beyond the project's; empty where it does not."""
        if self.project is None or "budget" not in self.fields:
            return ""
        if self.stage is not None and is_unpaid(self.stage):
            return ""
        try:
            entered = cents(str(self["budget"].value() or "0"))
        except ValueError:
            return ""
        return over_budget(self.project, stage=self.stage, budget_cents=entered)

    def _planned(self) -> int | None:
        planned_units = getattr(self.kind, "planned_units", None)
        if planned_units is None:
            return None
        values = self.cleaned_data if self.is_bound and hasattr(self, "cleaned_data") else self.initial
        try:
            data = modelform.data_of(values, self.kind.config, _CONFIG)
            planned: int | None = planned_units(self.kind.config.model_validate(data))
        except ValidationError:
            return None
        return planned

    def clean(self) -> dict[str, Any]:
        """Ask the models; their errors stand beside the fields."""
        cleaned = super().clean() or {}
        if not cleaned.get("slug") and self.stage is None and "slug" not in self.errors:
            cleaned["slug"] = self._free_slug(cleaned.get("title") or "")
        if self.errors:
            return cleaned
        self._columns: dict[str, Any] = {}
        cleaned[_CONFIG + LANGUAGES] = self.languages.entered()
        config = self._ask(self.kind.config, _CONFIG)
        if isinstance(config, StageConfig) and not self.fixed:
            self._follow(config)
        task = self._ask(TaskFields, _TASK)
        data = modelform.data_of(cleaned, StageFields)
        data |= {"kind": self.kind.name, "endpoint": cleaned["endpoint"].name}
        data.setdefault("budget", "0.00")
        if task is None or config is None:
            data["task"] = {"title": "-", "description": "-"}
        else:
            data["task"] = task.model_dump()
            data["config"] = config.model_dump(mode="json")
        try:
            fields = StageFields.model_validate(data)
        except ValidationError as error:
            modelform.add_errors(self, error, StageFields, data)
            return cleaned
        if self.project and self.kind.config.markdown:
            self._check_pictures(self.project)
        if not self.errors:
            self._columns = stage_columns(fields, cleaned["endpoint"])
            self.slug = fields.slug
        return cleaned

    def _check_pictures(self, project: Project) -> None:
        if absent := missing_pictures(project, pictures_in(self.cleaned_data.get(_INSTRUCTIONS) or "")):
            self.add_error(
                _INSTRUCTIONS, f"The project has no picture {absent[0]}. Add it below, or take it out."
            )

    def take_picture(self, file: UploadedFile[Any] | None, actor: Any) -> None:
        """Add a picture to the project, and to the end of the instructions that were entered."""
        assert self.project is not None
        assert isinstance(self.data, QueryDict)
        try:
            if file is None:
                raise CrowdError("Choose a file first.")
            content = file.read()
            picture = add_picture(project=self.project, name=file.name or "", content=content, actor=actor)
        except CrowdError as error:
            self.full_clean()
            self.add_error(_PICTURE, str(error))
            return
        entered = self.data.copy()
        text = f"{entered.get(_INSTRUCTIONS, '')}\n\n![{PurePath(picture.name).stem}]({picture.name})"
        entered[_INSTRUCTIONS] = text.strip()
        self.data = entered

    def _free_slug(self, title: str) -> str:
        """A short name made of the title, or of the kind where it has no Latin letters, that no stage has."""
        first = slugify(title)[:76].strip("-_") or slugify(self.kind.name)
        taken = set(Stage.objects.filter(project=self.project).values_list("slug", flat=True))
        names = (first if number == 1 else f"{first}-{number}" for number in count(1))
        return next(name for name in names if name not in taken)

    def _ask(self, model: type[BaseModel], prefix: str) -> BaseModel | None:
        data = modelform.data_of(self.cleaned_data, model, prefix)
        try:
            return model.model_validate(data)
        except ValidationError as error:
            modelform.add_errors(self, error, model, data, prefix)
            return None

    def columns(self) -> dict[str, Any]:
        """The stage's columns; without the budget where the person does not set budgets."""
        columns = dict(self._columns)
        if "budget" not in self.fields:
            del columns["budget_cents"]
        return columns


@dataclass(frozen=True, slots=True)
class CostView:
    """A cost as the page draws it."""

    cost: Estimate | None
    units_known: bool
    currency: str


def form_for(stage: Stage, data: Any = None, *, budgets: bool) -> StageForm:
    """The form of a stage that is there."""
    return StageForm(data, kind=kind_named(stage.kind), stage=stage, budgets=budgets)


def _initial(stage: Stage) -> dict[str, Any]:
    document = stage_document(stage)
    task, config = document.pop("task"), document.pop("config")
    del document["sources"], document["panel"]
    return (
        document
        | {_TASK + name: value for name, value in task.items()}
        | {_CONFIG + name: value for name, value in config.items()}
    )


def _entries(terms: Mapping[str, Any]) -> dict[str, Any]:
    """Terms as a study's file has them, by the names of the form's fields."""
    config = {_CONFIG + name: value for name, value in terms.get("config", {}).items()}
    return {name: value for name, value in terms.items() if name != "config"} | config


def _suggested(kind: StageKind) -> dict[str, Any]:
    """What the form of a new stage begins with."""
    listing = _first_listing(kind)
    texts = {"title": listing.title, "description": listing.description, "keywords": listing.keywords}
    return {**getattr(kind, "suggested", {}), **{_TASK + name: text for name, text in texts.items() if text}}


def _first_listing(kind: StageKind) -> Listing:
    suggested = getattr(kind, "suggested", {})
    return made_listing(
        kind,
        units_per_hit=suggested.get("units_per_hit", 1),
        minutes=suggested.get("expected_minutes"),
        config={},
    )


def endpoint_words(endpoint: Endpoint) -> str:
    """A marketplace as it is in a list to choose from."""
    money = "real money" if endpoint.real_money else "play money"
    return f"{endpoint.label} ({endpoint.name}, {money})"
