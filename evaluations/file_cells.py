"""What a cell of a table of answers holds: a text, a number, ratings, references."""

import ast
import io
import json
import math
import re
import tokenize
from collections.abc import Iterator
from typing import Any

from core.files.cells import MISSING, parse_flag, quote_names

_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+,[0-9]+")
#: Numbers with commas between them, or something in brackets.
_SEVERAL = re.compile(r"[^,]*[0-9] *,[0-9., +-]*|[a-z. ]*[\[({].*", re.DOTALL)
_LISTS = 'Several ratings are written [3, 4, 5], or with their raters [{"worker": "w1", "score": 3}]'
_BETWEEN = re.compile(r"\s*[|;]\s*|\s+")
_TEXT = ("text", "answer", "value")
_OPINION = ("opinion", "label")
_RATING = ("score", "rating", "value")
_DEEPEST = 8
_SHOWN = 40


class ValueRefusedError(ValueError):
    """Why a cell cannot be taken, in words: what it is, and what it should be."""


def text_of(value: Any) -> str:
    """A text as it is there; numbers as they are written."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    raise ValueRefusedError(f"{shown(value)} is no text")


def flag_of(value: Any) -> bool:
    """Whether something is so; nothing is no."""
    flag = parse_flag(value)
    if flag is None:
        raise ValueRefusedError(f"{shown(value)} is neither true nor false")
    return flag


def texts_of(value: Any) -> list[tuple[str, str]]:
    """Texts with their opinions, which may be empty: of a text, a list, nested lists, or objects with a text.

    A text that is a JSON list, or a list as Python prints it, is the list.
    """
    if isinstance(value, str):
        listed = list_in(value)
        value = value if listed is None else listed
    return list(_flat(value, 0))


def opinions_of(value: Any) -> list[str]:
    """Opinions, of which some may be empty: a list of them, or a single one."""
    return [text.strip() for text, _ in texts_of(value)]


def _flat(value: Any, depth: int) -> Iterator[tuple[str, str]]:
    if depth > _DEEPEST:
        raise ValueRefusedError("the list is nested too deeply")
    if isinstance(value, list | tuple):
        for each in value:
            yield from _flat(each, depth + 1)
    elif isinstance(value, dict):
        name = next((name for name in _TEXT if name in value), None)
        if name is None:
            raise ValueRefusedError(f"{shown(value)} has no member 'text'")
        opinion = next((value[name] for name in _OPINION if isinstance(value.get(name), str)), "")
        yield from ((text, own or opinion) for text, own in _flat(value[name], depth + 1))
    else:
        yield text_of(value), ""


def list_in(text: str) -> list[Any] | None:
    """The list that a text is, as JSON or as Python prints it; None for any other text."""
    bare = text.strip()
    if not (bare.startswith("[") and bare.endswith("]")):
        return None
    try:
        value = json.loads(bare)
    except (ValueError, RecursionError):
        return _python_list(bare)
    return value if isinstance(value, list) else None


def _python_list(text: str) -> list[Any] | None:
    """As pandas writes lists into a CSV file, not as numpy does: without commas."""
    try:
        value = ast.literal_eval(text)
        strings = sum(
            token.type == tokenize.STRING for token in tokenize.generate_tokens(io.StringIO(text).readline)
        )
    except (ValueError, SyntaxError, RecursionError, MemoryError, tokenize.TokenError):
        return None
    if not isinstance(value, list) or strings != sum(isinstance(each, str) for each in _leaves(value)):
        return None
    return value


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, list | tuple):
        for each in value:
            yield from _leaves(each)
    else:
        yield value


def number_of(value: Any, *, comma: bool = False) -> float | None:
    """The finite number that a cell is, None where it is empty; `comma` reads 2,5 as two and a half."""
    if isinstance(value, str):
        bare = value.strip()
        if bare.casefold() in MISSING:
            return None
        if _DECIMAL_COMMA.fullmatch(bare):
            if not comma:
                raise ValueRefusedError(
                    f"{shown(bare)} may have a decimal comma, or be two numbers. Write 2.5, or [2, 5]"
                )
            bare = bare.replace(",", ".")
        try:
            number = float(bare) if "_" not in bare else math.nan
        except ValueError:
            number = math.nan
        if math.isnan(number):
            several = f". {_LISTS}" if _SEVERAL.fullmatch(bare) else ""
            raise ValueRefusedError(f"{shown(value)} is no number{several}")
    elif value is None:
        return None
    elif isinstance(value, bool):
        return float(value)
    elif isinstance(value, int | float):
        number = float(value)
        if math.isnan(number):
            return None
    else:
        raise ValueRefusedError(f"{shown(value)} is no number. {_LISTS}")
    if math.isinf(number):
        raise ValueRefusedError(f"{shown(value)} is not finite")
    return number


def ratings_of(value: Any, *, comma: bool = False) -> list[tuple[str, float]] | None:
    """Single ratings with their raters, where a cell holds several; None where it is one number or empty.

    A list, a text that is a list, or numbers with white space, a bar or a semicolon between them.
    Ratings without a rater's name are those of the first, the second … rater. A list may hold objects
    `{"worker": …, "score": …}`.
    """
    if isinstance(value, str):
        listed = list_in(value)
        if listed is None:
            parts = _BETWEEN.split(value.strip())
            if len(parts) < 2 or not all(_is_number(part, comma=comma) for part in parts):
                return None
            listed = parts
    elif isinstance(value, list | tuple):
        listed = list(value)
    else:
        return None
    found = []
    for place, each in enumerate(listed, 1):
        rater, score = str(place), each
        if isinstance(each, dict):
            names = [name for name in _RATING if name in each]
            if not names:
                raise ValueRefusedError(
                    f"a rating has the members {quote_names(each)}, and none is named "
                    f"{', '.join(_RATING)}. Name the one that is meant score, or write its values alone: "
                    "[3, 4, 5]"
                )
            score = each[names[0]]
            given = next(
                (each[name] for name in ("worker", "rater", "annotator", "judge") if each.get(name)), ""
            )
            rater = text_of(given) or rater
        number = number_of(score, comma=comma)
        if number is not None:
            found.append((rater, number))
    return found


def _is_number(text: str, *, comma: bool) -> bool:
    try:
        number_of(text, comma=comma)
    except ValueRefusedError:
        return False
    return True


def shown(value: Any) -> str:
    """A value for a message, cut where it is long."""
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
