"""What researchers read for the units of this app."""

from collections.abc import Sequence

from annotation.quotes import quoted
from judgments import units
from judgments.models import AttentionCheck, Candidate


def texts_of(names: Sequence[str]) -> dict[str, str]:
    """Query and answer of each unit, cut; a check says what it is made of. Two statements."""
    candidates = {units.candidate_of(unit): unit for unit in names if not units.is_check(unit)}
    checks = {units.check_of(unit): unit for unit in names if units.is_check(unit)}
    found = {unit: unit for unit in names}
    rows = Candidate.objects.filter(pk__in=candidates).values_list("pk", "query__text", "text")
    for pk, query, text in rows:
        found[candidates[pk]] = f"{quoted(query)}: {quoted(text)}"
    for check in AttentionCheck.objects.filter(pk__in=checks).select_related("query"):
        words = f"{quoted(check.query.text)}: {quoted(check.text)}"
        found[checks[check.pk]] = f"Check, {check.get_source_display()}. {words}"
    return found
