"""What to do where one column is why lines are refused, in a sentence."""

from collections.abc import Mapping

from annotation.importing.columns import NAMES
from annotation.importing.reader import Reader
from annotation.importing.records import TYPES
from annotation.quotes import quoted
from core.files.refusals import Refusals

#: Fields without which a query can be imported.
_NEEDED = ("text",)
_FEW = 2
_HALF = 0.5
_WANTS = {
    "type": f"one of {', '.join(TYPES)}",
    "yes_no": "yes or no",
    "count": "a whole number",
    "turn": "a whole number from 1 on",
    "selected": "yes or no",
}


def refused_fields(reader: Reader, given: Mapping[str, str], refusals: Refusals) -> list[str]:
    """Columns that refuse at least half of what is refused, at least two lines, each with its remedy."""
    mapping: Mapping[str, str] = getattr(reader, "mapping", {})
    hints = []
    for name, lines in refusals.fields.most_common():
        if name not in NAMES or name not in mapping or name in _NEEDED:
            continue
        if lines < _FEW or lines < refusals.total * _HALF:
            continue
        found = "" if given.get(name) else ", found by its name,"
        wants = f" It takes {_WANTS[name]}." if name in _WANTS else ""
        hints.append(
            f"The column {quoted(mapping[name])}{found} is read as the {name.replace('_', ' ')} and refuses "
            f"{lines:,} {reader.unit}s.{wants} If it holds something else, choose “not in the file” for it "
            f"(on the command line: --column {name}=); its values then stay with the queries."
        )
    return hints
