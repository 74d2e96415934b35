"""A mapping of fields, from a table's row or a JSON object, as a record."""

import json
import re
from collections.abc import Mapping
from typing import Any

from annotation.importing.records import MOST_COUNT, MOST_PASSAGES, TYPES, Passage, Record
from core.files.refusals import BadFieldError

_YES = {"1", "true", "yes", "y", "yes_no", "yes-no"}
_NO = {"0", "false", "no", "n", ""}
_MOST_ID = 200
#: Fields that say something about the one passage of a line.
OF_PASSAGE = ("passage_id", "passage_title", "passage_url", "selected")
_MOST_URL = 2000


def record_of(values: Mapping[str, Any], *, line: int, ordinal: int, extra: dict[str, Any]) -> Record:
    """A record from values by our names; BadFieldError says which field is wrong and how."""
    text = values.get("text")
    if not isinstance(text, str) or not text.strip():
        raise BadFieldError(
            "The query has no text." if text in (None, "") else "The query's text is no text.", "text"
        )
    passages = passages_of(values.get("passages"))
    about = {name: values[name] for name in OF_PASSAGE if values.get(name) not in (None, "")}
    if about and len(passages) == 1:
        _describe(passages[0], about)
    elif about:
        extra = extra | {"columns": extra.get("columns", {}) | about}
    return Record(
        line=line,
        ordinal=ordinal,
        text=text,
        count=count_of(values.get("count")),
        id=id_of(values.get("id")),
        type=type_of(values.get("type")),
        yes_no=yes_no_of(values.get("yes_no"), values.get("type")),
        conversation=id_of(values.get("conversation"), "conversation"),
        turn=turn_of(values.get("turn")),
        context=texts_of(values.get("context"), "context"),
        replies=replies_of(values.get("context")),
        passages=passages,
        references=texts_of(values.get("references"), "references"),
        extra=extra,
    )


def _describe(passage: Passage, about: Mapping[str, Any]) -> None:
    """What columns beside a passage say about it, where it does not say so itself."""
    passage.key = passage.key or id_of(about.get("passage_id"), "passage_id")
    passage.title = passage.title or str(about.get("passage_title") or "")
    passage.url = passage.url or web_address(about.get("passage_url"))
    if "selected" in about:
        passage.selected = yes_no_of(about["selected"], field="selected") or False


def count_of(value: Any) -> int:
    """How often the log has it; 1 where it does not say."""
    if value is None or value == "":
        return 1
    try:
        count = int(value) if not isinstance(value, float) or value.is_integer() else 0
    except (TypeError, ValueError):
        count = 0
    if isinstance(value, bool) or not 1 <= count <= MOST_COUNT:
        raise BadFieldError(
            f"The count {_shown(value)} is no whole number from 1 to {MOST_COUNT:,}.", "count"
        )
    return count


def id_of(value: Any, name: str = "id") -> str:
    """An id as text."""
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise BadFieldError(f"The {name} {_shown(value)} is neither text nor a number.", name)
    text = str(value).strip()
    if len(text) > _MOST_ID:
        raise BadFieldError(f"The {name} is longer than {_MOST_ID} characters.", name)
    return text


def type_of(value: Any) -> str:
    """One of MS MARCO's classes, or none."""
    if value is None or value == "":
        return ""
    word = str(value).strip().upper()
    if word in ("YES_NO", "YES-NO", "YESNO", "NONE", ""):
        return ""
    if word not in TYPES:
        raise BadFieldError(f"The type {_shown(value)} is none of {', '.join(TYPES)}.", "type")
    return word


def yes_no_of(value: Any, type_value: Any = None, *, field: str = "yes_no") -> bool | None:
    """Whether the answer is yes or no; None where the file does not say."""
    if value is None or value == "":
        said = str(type_value or "").strip().upper()
        return True if said in ("YES_NO", "YES-NO", "YESNO") else None
    word = str(value).strip().casefold()
    if word in _YES:
        return True
    if word in _NO:
        return False
    raise BadFieldError(f"The yes-no flag {_shown(value)} is neither yes nor no.", field)


def turn_of(value: Any) -> int | None:
    """Number of a turn, from 1."""
    if value is None or value == "":
        return None
    try:
        turn = int(value)
    except (TypeError, ValueError):
        turn = 0
    if not 1 <= turn <= 10_000:
        raise BadFieldError(f"The turn {_shown(value)} is no whole number from 1 on.", "turn")
    return turn


def texts_of(value: Any, name: str) -> list[str]:
    """A list of texts: as JSON, as a list, or one text; turns may be objects with a `text`."""
    if value is None or value == "":
        return []
    if isinstance(value, str):
        value = _json_in(value)
    found = value if isinstance(value, list) else [value]
    texts = [each.get("text") if isinstance(each, dict) else each for each in found]
    if not all(isinstance(each, str) for each in texts):
        raise BadFieldError(f"The {name} are no list of texts.", name)
    return [each for each in texts if isinstance(each, str) and each.strip()]


def replies_of(value: Any) -> list[str]:
    """What a system replied to each turn of a context that `texts_of` reads; empty where none has a reply."""
    value = _json_in(value) if isinstance(value, str) else value
    turns = [each for each in value if _is_turn(each)] if isinstance(value, list) else []
    replies = [each.get("answer", each.get("response")) if isinstance(each, dict) else "" for each in turns]
    if not all(reply is None or isinstance(reply, str) for reply in replies):
        raise BadFieldError("A turn of the context has an answer that is no text.", "context")
    return [reply or "" for reply in replies] if any(replies) else []


def _is_turn(value: Any) -> bool:
    text = value.get("text") if isinstance(value, dict) else value
    return isinstance(text, str) and bool(text.strip())


def passages_of(value: Any) -> list[Passage]:
    """Passages: a list of texts or of objects, the same as JSON in a column, or one text."""
    if value is None or value == "":
        return []
    if isinstance(value, str):
        value = _json_in(value)
    found = value if isinstance(value, list) else [value]
    if len(found) > MOST_PASSAGES:
        raise BadFieldError(f"There are more than {MOST_PASSAGES} passages.", "passages")
    return [passage for each in found if (passage := _passage(each)) is not None]


def _passage(value: Any) -> Passage | None:
    if isinstance(value, str):
        return Passage(text=value) if value.strip() else None
    if not isinstance(value, dict):
        raise BadFieldError("A passage is neither text nor an object.", "passages")
    text = value.get("text", value.get("passage_text", value.get("passage")))
    if not isinstance(text, str):
        raise BadFieldError("A passage has no text.", "passages")
    if not text.strip():
        return None
    start, end = value.get("start"), value.get("end")
    if (start is None) != (end is None) or not (start is None or _region(start, end)):
        raise BadFieldError("A passage's start and end are no region of its page.", "passages")
    return Passage(
        text=text,
        title=str(value.get("title") or ""),
        url=web_address(value.get("url")),
        key=id_of(value.get("id", value.get("key"))),
        page=str(value.get("page") or "")[:_MOST_URL],
        start=start,
        end=end,
        selected=selected_of(value.get("is_selected", value.get("selected"))),
    )


def _region(start: Any, end: Any) -> bool:
    return type(start) is int and type(end) is int and 0 <= start < end <= 2**31 - 1


def selected_of(value: Any) -> bool:
    """Whether the file had the passage selected."""
    return bool(yes_no_of(value))


def web_address(value: Any) -> str:
    """An address of the web, or nothing: other schemes are never kept, so that no page links to them."""
    text = str(value or "").strip()
    return text if re.match(r"https?://\S+$", text, re.IGNORECASE) and len(text) <= _MOST_URL else ""


def _json_in(text: str) -> Any:
    """What a column holds: JSON where it begins like it, else the text."""
    if text.lstrip()[:1] not in ("[", "{"):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _shown(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else shown[:59] + "…"
