"""Qualification requirements, read from the wire, and who may discover, preview and accept which HITs."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypedDict

from django.db.models import Exists, OuterRef, Q, QuerySet, TextField
from django.db.models.functions import Cast
from django.utils.translation import gettext, gettext_lazy, gettext_noop
from django_stubs_ext import StrOrPromise

from marketplace.countries import fault_of_place
from marketplace.errors import Refusal, invalid_value
from marketplace.models import Block, HITType, QualificationGrant, QualificationType, Requester, Worker

# Qualification requirements of a HIT type: reading them from the wire, with the protocol's own rules.

PERCENT_SUBMITTED = "00000000000000000000"
NUMBER_HITS_APPROVED = "00000000000000000040"
ADULT = "00000000000000000060"
PERCENT_ABANDONED = "00000000000000000070"
LOCALE = "00000000000000000071"
PERCENT_RETURNED = "000000000000000000E0"
PERCENT_APPROVED = "000000000000000000L0"
PERCENT_REJECTED = "000000000000000000S0"
SYSTEM_QUALIFICATIONS = {
    PERCENT_SUBMITTED: gettext_noop("Percentage of assignments submitted"),
    NUMBER_HITS_APPROVED: gettext_noop("Number of HITs approved"),
    ADULT: gettext_noop("Agreed to adult content"),
    PERCENT_ABANDONED: gettext_noop("Percentage of assignments abandoned"),
    LOCALE: gettext_noop("Location"),
    PERCENT_RETURNED: gettext_noop("Percentage of assignments returned"),
    PERCENT_APPROVED: gettext_noop("Percentage of assignments approved"),
    PERCENT_REJECTED: gettext_noop("Percentage of assignments rejected"),
    "2F1QJWKUDD8XADTFD2Q0G6UTO95ALH": gettext_noop("Masters"),
    "2ARFPLSP75KLA8M8DH1HTEQVJT3SY6": gettext_noop("Masters (sandbox)"),
}
MAX_REQUIREMENTS = 10
MAX_INTEGERS = 15
MAX_LOCALES = 30
_PRESENCE = ("Exists", "DoesNotExist")
_SETS = ("In", "NotIn")
_LOCALE_COMPARATORS = ("EqualTo", "NotEqualTo", *_SETS)


class Locale(TypedDict, total=False):
    """Country (ISO 3166) and, for the United States, a state."""

    Country: str
    Subdivision: str


class Requirement(TypedDict, total=False):
    """One requirement as the protocol writes it, defaults filled in."""

    QualificationTypeId: str
    Comparator: str
    IntegerValues: list[int]
    LocaleValues: list[Locale]
    RequiredToPreview: bool
    ActionsGuarded: str


def normalise(raw: list[dict[str, Any]]) -> list[Requirement]:
    """Requirements with defaults filled in, as every later answer echoes them.

    `raw` has passed the model constraints (types, enumerations). Raises Refusal for combinations that mean
    nothing, such as values with Exists, and for qualification types that do not exist.
    """
    if len(raw) > MAX_REQUIREMENTS:
        raise invalid_value("QualificationRequirements", f"at most {MAX_REQUIREMENTS} are allowed.")
    custom = {item["QualificationTypeId"] for item in raw} - SYSTEM_QUALIFICATIONS.keys()
    if custom:
        statuses = dict(
            QualificationType.objects.filter(qualification_type_id__in=custom, deleted_at=None).values_list(
                "qualification_type_id", "status"
            )
        )
        for type_id in sorted(custom):
            if type_id not in statuses:
                raise invalid_value("QualificationTypeId", f"there is no QualificationType {type_id}.")
            if statuses[type_id] != QualificationType.Status.ACTIVE:
                raise Refusal(
                    "InvalidQualificationTypeState",
                    f"QualificationType {type_id} is inactive. "
                    "This operation can be called with a status of: Active",
                )
    return [_normalise_one(item) for item in raw]


def _normalise_one(item: dict[str, Any]) -> Requirement:
    comparator = item["Comparator"]
    integers, locales = item.get("IntegerValues") or [], item.get("LocaleValues") or []
    if comparator in _PRESENCE:
        if integers or locales:
            raise invalid_value("IntegerValues", f"{comparator} takes no values.")
    elif item["QualificationTypeId"] == LOCALE:
        _check_values(comparator, integers, locales, MAX_LOCALES, "LocaleValues")
        if comparator not in _LOCALE_COMPARATORS:
            raise invalid_value("Comparator", f"Locale can be compared by {', '.join(_LOCALE_COMPARATORS)}.")
    else:
        _check_values(comparator, locales, integers, MAX_INTEGERS, "IntegerValues")
    for locale in locales:
        if fault := fault_of_place(locale["Country"], locale.get("Subdivision", "")):
            raise invalid_value("LocaleValues", fault)
    requirement = Requirement(QualificationTypeId=item["QualificationTypeId"], Comparator=comparator)
    if integers:
        requirement["IntegerValues"] = integers
    if locales:
        requirement["LocaleValues"] = locales
    guarded = item.get("ActionsGuarded")
    if item.get("RequiredToPreview") and guarded:
        raise invalid_value("RequiredToPreview", "it cannot be combined with ActionsGuarded.")
    requirement["ActionsGuarded"] = guarded or (
        "PreviewAndAccept" if item.get("RequiredToPreview") else "Accept"
    )
    requirement["RequiredToPreview"] = bool(item.get("RequiredToPreview", False))
    return requirement


def _check_values(
    comparator: str, forbidden: list[Any], values: list[Any], most: int, parameter: str
) -> None:
    if forbidden:
        raise invalid_value(parameter, "IntegerValues and LocaleValues do not fit this qualification type.")
    if not values:
        raise invalid_value(parameter, f"{comparator} needs a value.")
    if comparator in _SETS:
        if len(values) > most:
            raise invalid_value(parameter, f"{comparator} takes at most {most} values.")
    elif len(values) > 1:
        raise invalid_value(parameter, f"{comparator} takes one value.")


#: Below this number of submitted assignments the approval rate counts as 100 %.
RATE_COUNTS_FROM = 100
_INTEGER_TESTS: dict[str, Callable[[int, list[int]], bool]] = {
    "LessThan": lambda value, required: value < required[0],
    "LessThanOrEqualTo": lambda value, required: value <= required[0],
    "GreaterThan": lambda value, required: value > required[0],
    "GreaterThanOrEqualTo": lambda value, required: value >= required[0],
    "EqualTo": lambda value, required: value == required[0],
    "NotEqualTo": lambda value, required: value != required[0],
    "In": lambda value, required: value in required,
    "NotIn": lambda value, required: value not in required,
}
_WORDS = {
    "LessThan": gettext_lazy("“%(name)s” must be less than %(value)s."),
    "LessThanOrEqualTo": gettext_lazy("“%(name)s” must be at most %(value)s."),
    "GreaterThan": gettext_lazy("“%(name)s” must be more than %(value)s."),
    "GreaterThanOrEqualTo": gettext_lazy("“%(name)s” must be at least %(value)s."),
    "EqualTo": gettext_lazy("“%(name)s” must be exactly %(value)s."),
    "NotEqualTo": gettext_lazy("“%(name)s” must be other than %(value)s."),
    "In": gettext_lazy("“%(name)s” must be one of %(value)s."),
    "NotIn": gettext_lazy("“%(name)s” must be none of %(value)s."),
}
BLOCKED = gettext_lazy("This requester does not accept work from you.")
CLOSED = gettext_lazy("This account is closed.")
FOREIGN = gettext_lazy("You joined by a study link of another requester, and work for that one alone.")


@dataclass(slots=True)
class Verdict:
    """What somebody may do with the HITs of a type; `missing` says in sentences what is in the way."""

    discover: bool = True
    preview: bool = True
    accept: bool = True
    missing: list[str] = field(default_factory=list)
    #: Active qualification types among the missing ones, of which the worker may be able to get some.
    on_request: list[QualificationType] = field(default_factory=list)

    def fail(self, actions_guarded: str, sentence: StrOrPromise) -> None:
        """Note an unmet requirement that guards these actions."""
        self.accept = False
        if actions_guarded != "Accept":
            self.preview = False
        if actions_guarded == "DiscoverPreviewAndAccept":
            self.discover = False
        self.missing.append(str(sentence))


def verdict(*, worker: Worker | None, hit_type: HITType) -> Verdict:
    """Verdict for one HIT type; `worker` None is a visitor without any qualification."""
    return verdicts(worker=worker, hit_types=[hit_type])[hit_type.pk]


def verdicts(*, worker: Worker | None, hit_types: Iterable[HITType]) -> dict[int, Verdict]:
    """Verdicts by primary key of the HIT types, in at most three queries."""
    hit_types = list(hit_types)
    type_ids = {
        requirement["QualificationTypeId"] for hit_type in hit_types for requirement in hit_type.requirements
    } - SYSTEM_QUALIFICATIONS.keys()
    custom: dict[str, QualificationType] = {}
    values = _system_values(worker) if worker else {}
    if type_ids:
        custom = {
            kind.qualification_type_id: kind
            for kind in QualificationType.objects.filter(
                qualification_type_id__in=type_ids, deleted_at=None
            ).defer("test", "answer_key")
        }
        if worker:
            values |= dict(
                QualificationGrant.objects.filter(
                    worker=worker,
                    qualification_type__in=custom.values(),
                    status=QualificationGrant.Status.GRANTED,
                ).values_list("qualification_type__qualification_type_id", "value")
            )
    blocks = Block.objects.filter(worker=worker).values_list("requester_id", flat=True)
    blockers = set(blocks) if worker else set()
    result: dict[int, Verdict] = {}
    for hit_type in hit_types:
        hit_verdict = result[hit_type.pk] = Verdict()
        for requirement in hit_type.requirements:
            if not _met(requirement, values, worker):
                kind = custom.get(requirement["QualificationTypeId"])
                hit_verdict.fail(requirement["ActionsGuarded"], _sentence(requirement, kind))
                if kind and _can_be_asked_for(requirement, kind, values):
                    hit_verdict.on_request.append(kind)
        if hit_type.requester_id in blockers:
            hit_verdict.fail("Accept", BLOCKED)
        if worker and worker.guest_of_id not in (None, hit_type.requester_id):
            hit_verdict.fail("DiscoverPreviewAndAccept", FOREIGN)
        if worker and worker.closed_at:
            hit_verdict.fail("DiscoverPreviewAndAccept", CLOSED)
    return result


def _can_be_asked_for(requirement: Requirement, kind: QualificationType, values: dict[str, int]) -> bool:
    """Whether asking could help: for what the worker lacks, or with a better score in a test."""
    if requirement["Comparator"] == "DoesNotExist" or kind.status != QualificationType.Status.ACTIVE:
        return False
    return kind.has_test or kind.qualification_type_id not in values


def _share(part: int, total: int, empty: int) -> int:
    return part * 100 // total if total else empty


def _system_values(worker: Worker) -> dict[str, int]:
    decided = worker.approved_count + worker.rejected_count
    ended = worker.submitted_count + worker.returned_count + worker.abandoned_count
    values = {
        NUMBER_HITS_APPROVED: worker.approved_count,
        PERCENT_APPROVED: (
            100 if worker.submitted_count < RATE_COUNTS_FROM else _share(worker.approved_count, decided, 100)
        ),
        PERCENT_REJECTED: _share(worker.rejected_count, decided, 0),
        PERCENT_SUBMITTED: _share(worker.submitted_count, ended, 100),
        PERCENT_RETURNED: _share(worker.returned_count, ended, 0),
        PERCENT_ABANDONED: _share(worker.abandoned_count, ended, 0),
    }
    if worker.adult:
        values[ADULT] = 1
    return values


def _met(requirement: Requirement, values: dict[str, int], worker: Worker | None) -> bool:
    comparator = requirement["Comparator"]
    if requirement["QualificationTypeId"] == LOCALE:
        return _locale_met(comparator, requirement.get("LocaleValues", []), worker)
    value = values.get(requirement["QualificationTypeId"])
    if value is None:
        return comparator == "DoesNotExist"
    if comparator in ("Exists", "DoesNotExist"):
        return comparator == "Exists"
    return _INTEGER_TESTS[comparator](value, requirement["IntegerValues"])


def _locale_met(comparator: str, locales: list[Locale], worker: Worker | None) -> bool:
    if worker is None or not worker.country:
        return comparator == "DoesNotExist"
    if comparator in ("Exists", "DoesNotExist"):
        return comparator == "Exists"
    inside = any(
        locale["Country"] == worker.country
        and locale.get("Subdivision", worker.subdivision) == worker.subdivision
        for locale in locales
    )
    return inside == (comparator in ("EqualTo", "In"))


def _sentence(requirement: Requirement, kind: QualificationType | None) -> str:
    system = SYSTEM_QUALIFICATIONS.get(requirement["QualificationTypeId"])
    name = (
        gettext(system) if system else kind.name if kind else gettext("a qualification that no longer exists")
    )
    comparator = requirement["Comparator"]
    if comparator == "Exists":
        return gettext("You need the qualification “%(name)s”.") % {"name": name}
    if comparator == "DoesNotExist":
        return gettext("Not open to holders of “%(name)s”.") % {"name": name}
    if requirement["QualificationTypeId"] == LOCALE:
        places = ", ".join(
            "-".join(filter(None, (locale["Country"], locale.get("Subdivision"))))
            for locale in requirement["LocaleValues"]
        )
        return str(_WORDS[comparator]) % {"name": name, "value": places}
    return str(_WORDS[comparator]) % {
        "name": name,
        "value": ", ".join(map(str, requirement["IntegerValues"])),
    }


#: HIT types by which HITs are found.
_FEW_TYPES = 500


def hit_types_asking_for(qualification_type_id: str) -> QuerySet[HITType]:
    """HIT types that have a requirement on a qualification.

    Requirements are searched as text, which the database does in one scan of the HIT types; the id is
    in its quotation marks, and nothing else in a requirement can look like it.
    """
    as_text = HITType.objects.annotate(requirements_text=Cast("requirements", TextField()))
    return as_text.filter(requirements_text__contains=f'"{qualification_type_id}"')


def asking_for(qualification_type_id: str, *, requester: Requester) -> Q:
    """Condition of the requester's HITs that have a requirement on a qualification.

    Those of few HIT types are found by these; of many, HITs are looked at one after the other, and a page is
    full soon. Either way takes milliseconds where the other can take half a second for 100,000 HITs.
    """
    asking = hit_types_asking_for(qualification_type_id)
    few = list(asking.filter(requester=requester).values_list("pk", flat=True)[: _FEW_TYPES + 1])
    if len(few) > _FEW_TYPES:
        return Q(Exists(asking.filter(pk=OuterRef("hit_type"))), requester=requester)
    return Q(requester=requester, hit_type__in=few)
