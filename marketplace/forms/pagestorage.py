"""Storage of task pages that lasts: lent to a requester's pages for one worker, and to nobody else's.

A page cannot read or write it itself, for it has no origin: it comes with the page, and the page around the
frame brings back what was changed, change by change, so that two tabs do not undo each other.
"""

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction

from marketplace import clock
from marketplace.activity import delete_in_batches
from marketplace.errors import Refusal
from marketplace.models import PageStorage

#: Characters that the pages of one requester may keep for one worker, names included.
MOST_CHARACTERS = 64 * 1024
#: Changes that may come at once.
MOST_CHANGES = 2_000
AREAS = ("local", "session", "cookies")
#: What a session is here: so long without a change, and what has no end of its own and is of a session goes.
SESSION = timedelta(hours=12)
_LONGEST_NAME = 1_000


def lent_to(*, worker_pk: int, requester_pk: int) -> dict[str, Any]:
    """What a page gets: the three areas with what has not ended, and how much they may hold."""
    row = PageStorage.objects.filter(worker=worker_pk, requester=requester_pk).first()
    areas = _areas(row, clock.now())
    return {"areas": areas, "most": MOST_CHARACTERS}


def record_changes(*, worker_pk: int, requester_pk: int, changes: object) -> None:
    """Apply changes in their order: [area, name, value or null, end or null]; a null name empties the area.

    Raises Refusal where they are not of this shape, or where more would be kept than may be.
    """
    checked = [_checked(change) for change in _check_list(changes)]
    now = clock.now()
    with transaction.atomic():
        row = _locked(worker_pk, requester_pk, now)
        areas = _areas(row, now)
        for area, name, value, ends in checked:
            if name is None:
                areas[area].clear()
            elif value is None:
                areas[area].pop(name, None)
            else:
                areas[area][name] = [value, ends]
        if (size := size_of(areas)) > MOST_CHARACTERS:
            raise Refusal("StorageFull", f"{size:,} characters would be kept; {MOST_CHARACTERS:,} may be.")
        values = json.dumps(areas, ensure_ascii=False, separators=(",", ":"))
        PageStorage.objects.filter(pk=row.pk).update(values=values, changed_at=now)


def size_of(areas: Mapping[str, Mapping[str, list[Any]]]) -> int:
    """Characters of all names and values."""
    return sum(len(name) + len(entry[0]) for area in areas.values() for name, entry in area.items())


def forget_page_storage() -> int:
    """Delete what no page has changed for `PAGE_STORAGE_KEPT_DAYS`; how many rows."""
    if not settings.PAGE_STORAGE_KEPT_DAYS:
        return 0
    before = clock.now() - timedelta(days=settings.PAGE_STORAGE_KEPT_DAYS)
    return delete_in_batches(PageStorage.objects.filter(changed_at__lt=before))


def _locked(worker_pk: int, requester_pk: int, now: datetime) -> PageStorage:
    rows = PageStorage.objects.select_for_update()
    row = rows.filter(worker=worker_pk, requester=requester_pk).first()
    if row is None:
        try:
            with transaction.atomic():
                PageStorage.objects.create(worker_id=worker_pk, requester_id=requester_pk, changed_at=now)
        except IntegrityError:
            pass  # Another tab has just made it.
        row = rows.get(worker=worker_pk, requester=requester_pk)
    return row


def _areas(row: PageStorage | None, now: datetime) -> dict[str, dict[str, list[Any]]]:
    stored = json.loads(row.values) if row else {}
    over = row is None or row.changed_at < now - SESSION
    moment = now.timestamp() * 1000
    areas: dict[str, dict[str, list[Any]]] = {}
    for area in AREAS:
        of_session = area != "local"
        areas[area] = {
            name: [value, ends]
            for name, (value, ends) in stored.get(area, {}).items()
            if (ends > moment if ends is not None else not (of_session and over))
        }
    return areas


def _check_list(changes: object) -> list[object]:
    if not isinstance(changes, list) or len(changes) > MOST_CHANGES:
        raise Refusal("InvalidChanges", f"A list of at most {MOST_CHANGES:,} changes is expected.")
    return changes


def _checked(change: object) -> tuple[str, str | None, str | None, float | None]:
    match change:
        case [("local" | "session" | "cookies") as area, name, value, ends] if (
            (name is None or (isinstance(name, str) and len(name) <= _LONGEST_NAME))
            and (value is None or isinstance(value, str))
            and (ends is None or (isinstance(ends, int | float) and abs(ends) < 1e16))
        ):
            # PostgreSQL keeps no NUL, and UTF-8 no half of a pair.
            return area, _storable(name), _storable(value), ends
    raise Refusal("InvalidChanges", "A change has an area, a name, a value or null, and an end or null.")


def _storable(text: str | None) -> str | None:
    if text is None:
        return None
    return text.replace("\0", "\ufffd").encode("utf-16", "surrogatepass").decode("utf-16", "replace")
