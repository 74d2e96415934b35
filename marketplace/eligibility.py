"""Who may discover, preview and accept which HITs."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from core.database.composedqueries import ComposedQuery
from marketplace import requirements as rules
from marketplace.models import Block, HITType, QualificationGrant, QualificationType, Worker
from marketplace.requirements import Locale, Requirement

#: Below this number of submitted assignments the approval rate counts as 100 %.
RATE_COUNTS_FROM = 100
_INTEGER_TESTS: dict[str, Callable[[int, list[int]], bool]] = {
    "LessThan": lambda value, wanted: value < wanted[0],
    "LessThanOrEqualTo": lambda value, wanted: value <= wanted[0],
    "GreaterThan": lambda value, wanted: value > wanted[0],
    "GreaterThanOrEqualTo": lambda value, wanted: value >= wanted[0],
    "EqualTo": lambda value, wanted: value == wanted[0],
    "NotEqualTo": lambda value, wanted: value != wanted[0],
    "In": lambda value, wanted: value in wanted,
    "NotIn": lambda value, wanted: value not in wanted,
}
_WORDS = {
    "LessThan": "less than",
    "LessThanOrEqualTo": "at most",
    "GreaterThan": "more than",
    "GreaterThanOrEqualTo": "at least",
    "EqualTo": "exactly",
    "NotEqualTo": "other than",
    "In": "one of",
    "NotIn": "none of",
}
BLOCKED = "This requester does not accept work from you."
CLOSED = "This account is closed."


@dataclass(slots=True)
class Verdict:
    """What somebody may do with the HITs of a type; `missing` says in sentences what is in the way."""

    discover: bool = True
    preview: bool = True
    accept: bool = True
    missing: list[str] = field(default_factory=list)
    #: Active qualification types among the missing ones, of which the worker may be able to get some.
    on_request: list[QualificationType] = field(default_factory=list)

    def fail(self, actions_guarded: str, sentence: str) -> None:
        """Note an unmet requirement that guards these actions."""
        self.accept = False
        if actions_guarded != "Accept":
            self.preview = False
        if actions_guarded == "DiscoverPreviewAndAccept":
            self.discover = False
        self.missing.append(sentence)


def verdict(*, worker: Worker | None, hit_type: HITType) -> Verdict:
    """Verdict for one HIT type; `worker` None is a visitor without any qualification."""
    return verdicts(worker=worker, hit_types=[hit_type])[hit_type.pk]


_BLOCKS = ComposedQuery(
    Block, ["worker"], lambda worker: Block.objects.filter(worker=worker).only("requester")
)


def verdicts(*, worker: Worker | None, hit_types: Iterable[HITType]) -> dict[int, Verdict]:
    """Verdicts by primary key of the HIT types, in at most three queries."""
    hit_types = list(hit_types)
    wanted = {
        requirement["QualificationTypeId"] for hit_type in hit_types for requirement in hit_type.requirements
    } - rules.SYSTEM_QUALIFICATIONS.keys()
    custom: dict[str, QualificationType] = {}
    values = _system_values(worker) if worker else {}
    if wanted:
        custom = {
            kind.qualification_type_id: kind
            for kind in QualificationType.objects.filter(
                qualification_type_id__in=wanted, deleted_at=None
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
    blockers = {block.requester_id for block in _BLOCKS.all(worker.pk)} if worker else set()
    result: dict[int, Verdict] = {}
    for hit_type in hit_types:
        found = result[hit_type.pk] = Verdict()
        for requirement in hit_type.requirements:
            if not _met(requirement, values, worker):
                kind = custom.get(requirement["QualificationTypeId"])
                found.fail(requirement["ActionsGuarded"], _sentence(requirement, kind))
                if kind and _can_be_asked_for(requirement, kind, values):
                    found.on_request.append(kind)
        if hit_type.requester_id in blockers:
            found.fail("Accept", BLOCKED)
        if worker and worker.closed_at:
            found.fail("DiscoverPreviewAndAccept", CLOSED)
    return result


def _can_be_asked_for(requirement: Requirement, kind: QualificationType, values: dict[str, int]) -> bool:
    """Whether asking could help: for what the worker lacks, or with a better score in a test."""
    if requirement["Comparator"] == "DoesNotExist" or kind.status != QualificationType.Status.ACTIVE:
        return False
    return kind.has_test or kind.qualification_type_id not in values


def _share(part: int, whole: int, empty: int) -> int:
    return part * 100 // whole if whole else empty


def _system_values(worker: Worker) -> dict[str, int]:
    decided = worker.approved_count + worker.rejected_count
    taken = worker.submitted_count + worker.returned_count + worker.abandoned_count
    values = {
        rules.NUMBER_HITS_APPROVED: worker.approved_count,
        rules.PERCENT_APPROVED: (
            100 if worker.submitted_count < RATE_COUNTS_FROM else _share(worker.approved_count, decided, 100)
        ),
        rules.PERCENT_REJECTED: _share(worker.rejected_count, decided, 0),
        rules.PERCENT_SUBMITTED: _share(worker.submitted_count, taken, 100),
        rules.PERCENT_RETURNED: _share(worker.returned_count, taken, 0),
        rules.PERCENT_ABANDONED: _share(worker.abandoned_count, taken, 0),
    }
    if worker.adult:
        values[rules.ADULT] = 1
    return values


def _met(requirement: Requirement, values: dict[str, int], worker: Worker | None) -> bool:
    comparator = requirement["Comparator"]
    if requirement["QualificationTypeId"] == rules.LOCALE:
        return _locale_met(comparator, requirement.get("LocaleValues", []), worker)
    value = values.get(requirement["QualificationTypeId"])
    if value is None:
        return comparator == "DoesNotExist"
    if comparator in ("Exists", "DoesNotExist"):
        return comparator == "Exists"
    return _INTEGER_TESTS[comparator](value, requirement["IntegerValues"])


def _locale_met(comparator: str, wanted: list[Locale], worker: Worker | None) -> bool:
    if worker is None or not worker.country:
        return comparator == "DoesNotExist"
    if comparator in ("Exists", "DoesNotExist"):
        return comparator == "Exists"
    inside = any(
        locale["Country"] == worker.country
        and locale.get("Subdivision", worker.subdivision) == worker.subdivision
        for locale in wanted
    )
    return inside == (comparator in ("EqualTo", "In"))


def _sentence(requirement: Requirement, kind: QualificationType | None) -> str:
    name = rules.SYSTEM_QUALIFICATIONS.get(requirement["QualificationTypeId"]) or (
        kind.name if kind else "a qualification that no longer exists"
    )
    comparator = requirement["Comparator"]
    if comparator == "Exists":
        return f"You need the qualification “{name}”."
    if comparator == "DoesNotExist":
        return f"Not open to holders of “{name}”."
    if requirement["QualificationTypeId"] == rules.LOCALE:
        places = ", ".join(
            "-".join(filter(None, (locale["Country"], locale.get("Subdivision"))))
            for locale in requirement["LocaleValues"]
        )
        return f"“{name}” must be {_WORDS[comparator]} {places}."
    return f"“{name}” must be {_WORDS[comparator]} {', '.join(map(str, requirement['IntegerValues']))}."
