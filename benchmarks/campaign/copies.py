"""Copies of a campaign's rows by the database itself: the way from a million judgments to many.

What is copied has keys from FIRST on, of nine digits that begin with 10. Copy 3 of row 100000017 has the key
130000017: the first two digits say which copy a row is of, so texts that name keys (`candidate:100000017`)
are copied by replacing them. There is room for 89 copies.
"""

from typing import Any

from django.apps import apps
from django.core.management.color import no_style
from django.db import connection, models, transaction

from core.projects.models import Project
from crowd.models import Stage

FIRST = 100_000_000
_STRIDE = 10_000_000
#: Keys from here on are of no copy.
BEHIND = 2_000_000_000
#: What grows with the queries, parents before children, and by which of its columns a row is of the base.
_COPIED = {
    "crowd.Worker": "id",
    "crowd.Exclusion": "id",
    "crowd.Hit": "id",
    "crowd.HitUnit": "id",
    "crowd.Assignment": "id",
    "crowd.Claim": "id",
    "crowd.MarketOperation": "coalesce(hit_id, assignment_id)",
    "crowd.LedgerEntry": "id",
    "annotation.Query": "id",
    "annotation.QueryStep": "query_id",
    "annotation.ScreeningVote": "id",
    "annotation.CandidatePassage": "id",
    "annotation.PassageSelection": "id",
    "annotation.CuratedSet": "id",
    "annotation.CuratedPassage": "id",
    "annotation.Answer": "id",
    "annotation.AnswerFlag": "id",
    "annotation.AnswerReview": "id",
    "annotation.HeldOutWorker": "id",
    "judgments.Candidate": "id",
    "judgments.Judgment": "id",
    "judgments.CheckAnswer": "id",
    "judgments.Verdict": "judgment_id",
    "judgments.Score": "candidate_id",
    "projects.Event": "id",
}
_NAMES_KEYS = r"regexp_replace({c}::text, '\m10(\d{{7}})\M', '{to}\1', 'g')"
#: Codes of marketplaces have capitals and digits only.
_CODE = (
    "CASE WHEN {c} = '' THEN '' ELSE left({c}, -2) || "
    "translate('{number:02}', '0123456789', 'abcdefghij') END"
)
#: How columns are copied that hold no key but must differ, or that name keys in a text.
_SPECIAL = {
    "Worker.external_id": _CODE,
    "Hit.external_id": _CODE,
    "Hit.ordinal": "{c} + {number} * 1000000",
    "Assignment.external_id": _CODE,
    "Assignment.draft": _NAMES_KEYS + "::jsonb",
    "Assignment.response": _NAMES_KEYS + "::jsonb",
    "MarketOperation.result_ref": _CODE,
    "MarketOperation.target": "replace({c}, ':10', ':{to}')",
    "HitUnit.unit": _NAMES_KEYS,
    "Claim.unit": "replace({c}, ':10', ':{to}')",
    "Exclusion.scope": "replace({c}, ':10', ':{to}')",
    "Query.key": "{c} || '-{number}'",
    "Query.text": "{c} || ' {number}'",
    "Query.digest": "md5({c} || {number}) || md5({number} || {c})",
    "Query.plain_digest": "md5({c} || {number}) || md5({number} || {c})",
    "CandidatePassage.key": _NAMES_KEYS,
    "PassageSelection.passages": _NAMES_KEYS + "::jsonb",
}


def number_queries_from(first: int) -> None:
    """Queries that are imported from now on have keys from `first` on."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT setval(pg_get_serial_sequence('annotation_query', 'id'), %s, false)", [first])


def add(number: int) -> bool:
    """Copy the base once more, in one transaction; False where this copy is there already."""
    query = apps.get_model("annotation.Query")
    low = FIRST + number * _STRIDE
    if query.objects.filter(pk__gte=low, pk__lt=low + _STRIDE).exists():
        return False
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        for label, key in _COPIED.items():
            cursor.execute(_statement(apps.get_model(label), key, number))
    return True


def _statement(model: type[models.Model], key: str, number: int) -> str:
    fields = model._meta.concrete_fields
    names = ", ".join(f'"{field.column}"' for field in fields)
    values = ", ".join(_value(model, field, number) for field in fields)
    table = model._meta.db_table
    return (
        f'INSERT INTO "{table}" ({names}) SELECT {values} FROM "{table}" '
        f"WHERE {key} >= {FIRST} AND {key} < {FIRST + _STRIDE}"
    )


def _value(model: type[models.Model], field: "models.Field[Any, Any]", number: int) -> str:
    column = f'"{field.column}"'
    special = _SPECIAL.get(f"{model.__name__}.{field.attname}")
    if special:
        return special.format(c=column, number=number, to=10 + number)
    target = field.related_model if field.is_relation else None
    copied = target is not None and target != "self" and target._meta.label in _COPIED  # type: ignore[union-attr]
    kind = target._meta.pk if copied else field  # type: ignore[union-attr]
    if isinstance(kind, models.UUIDField) and (copied or field.unique):
        return f"md5({column}::text || {number})::uuid"
    return f"{column} + {number * _STRIDE}" if copied or field.primary_key else column


def finish(slug: str) -> None:
    """Bring sums, filters and sequences of the project up to its rows; does no harm twice."""
    project = Project.objects.get(slug=slug)
    stages = [stage.pk for stage in Stage.objects.filter(project=project)]
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            """
            UPDATE crowd_stage SET reserved_cents = s.reserved, spent_cents = s.spent,
                   budget_cents = greatest(budget_cents, s.reserved + s.spent)
            FROM (SELECT stage_id,
                         sum(CASE kind WHEN 'reserve' THEN 1 ELSE -1 END * (cents + fee_cents)) reserved,
                         sum(CASE kind WHEN 'spend' THEN cents + fee_cents ELSE 0 END) spent
                  FROM crowd_ledgerentry WHERE stage_id = ANY(%s) GROUP BY stage_id) s
            WHERE crowd_stage.id = s.stage_id
            """,
            [stages],
        )
        cursor.execute(
            """
            UPDATE projects_project SET reserved_cents = s.reserved, spent_cents = s.spent,
                   budget_cents = greatest(projects_project.budget_cents, s.budget)
            FROM (SELECT sum(reserved_cents) reserved, sum(spent_cents) spent, sum(budget_cents) budget
                  FROM crowd_stage WHERE project_id = %s) s
            WHERE projects_project.id = %s
            """,
            [project.pk, project.pk],
        )
        cursor.execute(
            """
            UPDATE judgments_filterrun SET last_judgment =
                   (SELECT max(id) FROM judgments_judgment j WHERE j.stage_id = judgments_filterrun.stage_id)
            WHERE stage_id = ANY(%s) AND state = 'in force'
            """,
            [stages],
        )
        numbered = [
            apps.get_model(label)
            for label in _COPIED
            if isinstance(apps.get_model(label)._meta.pk, models.AutoField | models.BigAutoField)
        ]
        for statement in connection.ops.sequence_reset_sql(no_style(), numbered):
            cursor.execute(statement)
