"""Which work counts: what decides about queries, sets, references and scores.

Work that was rejected, that a person holds, or that waits for a person's approval decides nothing. Until it
is rejected it still has its place (`Assignment.GOOD`), so that nobody else is asked meanwhile.
"""

from django.db.models import Case, CharField, F, Q, Value, When

from crowd.models import Assignment

State = Assignment.State
_IN = (State.STORED, State.SUBMITTED)
#: States of work that will never count, named so that an index finds them.
NEVER = tuple(state for state in State if state not in Assignment.GOOD)
#: What `why_not` and `reason_of` say of work that a person holds, and of work that a person has to approve.
HELD, WAITS = "held", "waits for approval"
#: Of work whose person left the study.
WITHDRAWN = "withdrawn"


def counting(to: str = "") -> Q:
    """Work that counts; `to` is the way to the assignment, such as "assignment".

    What was approved counts. What is in and undecided counts where it is approved by itself, which is
    neither held nor in a stage whose work a person approves, nor about to be held for the checks it failed.
    """
    at = f"{to}__" if to else ""
    by_itself = Q(
        **{f"{at}state__in": _IN, f"{at}held": False, f"{at}stage__approve_at_once": True},
    ) & (Q(**{f"{at}failed_checks": 0}) | Q(**{f"{at}stage__hold_failed_checks": False}))
    return (Q(**{f"{at}state": State.APPROVED}) | by_itself) & Q(**{f"{at}withdrawn": False})


def not_counting(to: str = "") -> Q:
    """The rest, said so that an index finds it: what was approved need not be looked at."""
    at = f"{to}__" if to else ""
    waits = Q(**{f"{at}held": True}) | Q(**{f"{at}stage__approve_at_once": False})
    failed = Q(**{f"{at}stage__hold_failed_checks": True, f"{at}failed_checks__gt": 0})
    undecided = Q(**{f"{at}state__in": _IN}) & (waits | failed)
    return Q(**{f"{at}state__in": NEVER}) | undecided | Q(**{f"{at}withdrawn": True})


def reason_of(to: str = "") -> Case:
    """Why work among `not_counting` does not count: its state where it never will, else HELD or WAITS."""
    at = f"{to}__" if to else ""
    is_held = Q(**{f"{at}held": True}) | Q(
        **{f"{at}stage__hold_failed_checks": True, f"{at}failed_checks__gt": 0}
    )
    return Case(
        When(**{f"{at}state__in": NEVER}, then=F(f"{at}state")),
        When(**{f"{at}withdrawn": True}, then=Value(WITHDRAWN)),
        When(is_held, then=Value(HELD)),
        default=Value(WAITS),
        output_field=CharField(),
    )


def counts(work: Assignment) -> bool:
    """`counting` of work that was read with its stage."""
    if work.withdrawn:
        return False
    if work.state == State.APPROVED:
        return True
    stage = work.stage
    return (
        work.state in _IN
        and not work.held
        and stage.approve_at_once
        and not (stage.hold_failed_checks and work.failed_checks)
    )


def why_not(work: Assignment) -> str:
    """Why work does not count, in a word or two; nothing where it counts."""
    if counts(work):
        return ""
    if work.state not in Assignment.GOOD:
        return work.get_state_display().lower()
    if work.withdrawn:
        return WITHDRAWN
    if work.held or (work.stage.hold_failed_checks and work.failed_checks):
        return HELD
    return WAITS
