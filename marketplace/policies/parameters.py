"""Reading the parameters of a review policy, as CreateHIT carries them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from marketplace.errors import Refusal, invalid_value
from marketplace.services.review import is_feedback

_YEAR = 31_536_000
_MAX_QUESTION = 255
#: A question of 65,535 bytes has no room for more fields; each costs a row per submission.
_MAX_QUESTIONS = 1000


@dataclass(frozen=True, slots=True)
class Extension:
    """One place more below a score, up to `most` places in all, with at least `seconds` left to take it."""

    below: int
    most: int
    seconds: int


class Parameters:
    """The parameters of one policy by name; each is taken once, and what is left over is refused."""

    def __init__(self, member: str, policy: Mapping[str, Any]) -> None:
        self._member = member
        self._given: dict[str, Mapping[str, Any]] = {}
        for parameter in policy.get("Parameters", ()):
            name = parameter.get("Key", "")
            if name in self._given:
                raise self.refusal(f"{name!r} is given twice.")
            self._given[name] = parameter

    def refusal(self, why: str) -> Refusal:
        """What is wrong with the policy, as a refusal of the whole call."""
        return invalid_value(self._member, f"{why} Nothing was created.")

    def map(self, name: str) -> dict[str, Sequence[str]]:
        """A required parameter of MapEntries: values by key."""
        entries = self._given.pop(name, {}).get("MapEntries") or []
        found: dict[str, Sequence[str]] = {}
        for entry in entries:
            key = entry.get("Key", "").strip()
            if not 1 <= len(key) <= _MAX_QUESTION or key in found:
                raise self.refusal(
                    f"the MapEntries of {name} need different Keys of at most {_MAX_QUESTION} characters."
                )
            found[key] = entry.get("Values", [])
        if not 1 <= len(found) <= _MAX_QUESTIONS:
            raise self.refusal(f"it needs {name} with 1 to {_MAX_QUESTIONS} MapEntries.")
        return found

    def texts(self, name: str) -> list[str]:
        """A required list: several values, or one with commas."""
        values = self._given.pop(name, {}).get("Values") or []
        found = [part.strip() for value in values for part in value.split(",") if part.strip()]
        if not 1 <= len(found) <= _MAX_QUESTIONS or any(len(text) > _MAX_QUESTION for text in found):
            raise self.refusal(
                f"it needs {name} with 1 to {_MAX_QUESTIONS} values of at most {_MAX_QUESTION} characters."
            )
        return list(dict.fromkeys(found))

    def whole(self, name: str, least: int, most: int) -> int | None:
        """An optional whole number."""
        text = self._one(name)
        if text is None:
            return None
        if not (text.isascii() and text.isdigit() and len(text) <= 10 and least <= int(text) <= most):
            raise self.refusal(f"{name} is {text[:40]!r}, not a whole number from {least} to {most}.")
        return int(text)

    def flag(self, name: str) -> bool:
        """An optional T or F."""
        text = (self._one(name) or "F").lower()
        if text not in ("t", "f", "true", "false"):
            raise self.refusal(f"{name} is {text[:40]!r}; use T or F.")
        return text.startswith("t")

    def reason(self, name: str) -> str:
        """An optional sentence for workers."""
        text = self._one(name) or ""
        if not is_feedback(text):
            raise self.refusal(f"{name} has more than 1024 characters, or control characters.")
        return text

    def extension(self, name: str, *, default_most: int | None = None) -> Extension | None:
        """The three parameters of an extension, of which `name` says below which score."""
        below = self.whole(name, 0, 101)
        most = self.whole("ExtendMaximumAssignments", 2, 25 if default_most else 1_000_000) or default_most
        seconds = self.whole("ExtendMinimumTimeInSeconds", 0, _YEAR)
        if below is None:
            return None
        if most is None or (seconds is None and not default_most):
            raise self.refusal(f"{name} needs ExtendMaximumAssignments and ExtendMinimumTimeInSeconds.")
        return Extension(below, most, seconds or 0)

    def finish(self) -> None:
        """Refuse what nobody took: a misspelt parameter must not be ignored."""
        if self._given:
            raise self.refusal(f"it does not know the parameter {min(self._given)[:80]!r}.")

    def _one(self, name: str) -> str | None:
        parameter = self._given.pop(name, None)
        if parameter is None:
            return None
        values = parameter.get("Values") or []
        if len(values) != 1:
            raise self.refusal(f"{name} takes exactly one value.")
        return str(values[0]).strip()
