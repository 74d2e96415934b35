"""Qualification requirements of a HIT type: reading them from the wire, with the protocol's own rules."""

from typing import Any, TypedDict

from marketplace.errors import Refusal, invalid_value
from marketplace.models import QualificationType

PERCENT_SUBMITTED = "00000000000000000000"
NUMBER_HITS_APPROVED = "00000000000000000040"
ADULT = "00000000000000000060"
PERCENT_ABANDONED = "00000000000000000070"
LOCALE = "00000000000000000071"
PERCENT_RETURNED = "000000000000000000E0"
PERCENT_APPROVED = "000000000000000000L0"
PERCENT_REJECTED = "000000000000000000S0"
SYSTEM_QUALIFICATIONS = {
    PERCENT_SUBMITTED: "Percentage of assignments submitted",
    NUMBER_HITS_APPROVED: "Number of HITs approved",
    ADULT: "Agreed to adult content",
    PERCENT_ABANDONED: "Percentage of assignments abandoned",
    LOCALE: "Location",
    PERCENT_RETURNED: "Percentage of assignments returned",
    PERCENT_APPROVED: "Percentage of assignments approved",
    PERCENT_REJECTED: "Percentage of assignments rejected",
    "2F1QJWKUDD8XADTFD2Q0G6UTO95ALH": "Masters",
    "2ARFPLSP75KLA8M8DH1HTEQVJT3SY6": "Masters (sandbox)",
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
        known = dict(
            QualificationType.objects.filter(qualification_type_id__in=custom, deleted_at=None).values_list(
                "qualification_type_id", "status"
            )
        )
        for type_id in sorted(custom):
            if type_id not in known:
                raise invalid_value("QualificationTypeId", f"there is no QualificationType {type_id}.")
            if known[type_id] != QualificationType.Status.ACTIVE:
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
