"""Reads catalogues and what sources mark for them, without gettext's programs, which a machine may lack."""

import ast
import re
from dataclasses import dataclass, field
from pathlib import Path

from django.conf import settings
from django.utils.translation import templatize, to_locale

ROOT = Path(settings.BASE_DIR)
#: Folders that `make messages` leaves out (NO_PAGES of the Makefile).
NO_PAGES = ("benchmarks", "build", "distributions", "docs", "tests", "var")
_DESK = re.compile(r"^DESK := ((?:.*\\\n)*.*)", re.MULTILINE)
_PARTS = re.compile(r"\$\(patsubst %,(\S+?)%(\S+?),(.*?)\)")
#: Functions of Django that mark a text: where among their arguments context, text and plural stand.
_MARKS = {
    "gettext": (None, 0, None),
    "gettext_lazy": (None, 0, None),
    "gettext_noop": (None, 0, None),
    "ngettext": (None, 0, 1),
    "ngettext_lazy": (None, 0, 1),
    "pgettext": (0, 1, None),
    "pgettext_lazy": (0, 1, None),
    "npgettext": (0, 1, 2),
}
_LINE = re.compile(r'(msgctxt|msgid_plural|msgid|msgstr)(?:\[\d+\])? (".*")')


@dataclass
class Entry:
    """A text of a catalogue with its translations: one for each form of its plural."""

    context: str = ""
    text: str = ""
    plural: str = ""
    translations: list[str] = field(default_factory=list)

    @property
    def key(self) -> tuple[str, str, str]:
        """What marks it in a source."""
        return self.context, self.text, self.plural


def catalogue_of(language: str) -> Path:
    """The catalogue of a language as people edit it."""
    return ROOT / "distillery" / "locale" / to_locale(language) / "LC_MESSAGES" / "django.po"


def read_catalogue(path: Path) -> list[Entry]:
    """The entries of a catalogue; the first is its head."""
    entries, names = [Entry()], {"msgctxt": "context", "msgid": "text", "msgid_plural": "plural"}
    where = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if match := _LINE.fullmatch(line):
            if match[1] in ("msgctxt", "msgid") and entries[-1].translations:
                entries.append(Entry())
            where, value = match[1], ast.literal_eval(match[2])
            if where == "msgstr":
                entries[-1].translations.append(value)
            else:
                setattr(entries[-1], names[where], value)
        elif line.startswith('"') and where == "msgstr":
            entries[-1].translations[-1] += ast.literal_eval(line)
        elif line.startswith('"'):
            name = names[where]
            setattr(entries[-1], name, getattr(entries[-1], name) + ast.literal_eval(line))
    return entries


def sources_of_the_desk() -> list[str]:
    """Folders and files, DESK of the Makefile, that only catalogues of languages of the desk are made of."""
    listed = _DESK.search((ROOT / "Makefile").read_text(encoding="utf-8"))
    assert listed
    named = _PARTS.sub(
        lambda part: " ".join(f"{part[1]}{name}{part[2]}" for name in part[3].split()), listed[1]
    )
    return named.replace("\\", "").split()


def is_of_the_desk(path: Path) -> bool:
    """Whether a source is one of the desk, as `makemessages --ignore` compares it."""
    places = {path.name, *(str(each) for each in (path.relative_to(ROOT), *path.relative_to(ROOT).parents))}
    return not places.isdisjoint(sources_of_the_desk())


def marked_texts(*, desk: bool) -> set[tuple[str, str, str]]:
    """What sources mark, as context, text and plural; a text with and without plural is one entry."""
    found: set[tuple[str, str, str]] = set()
    folders = [each for each in ROOT.iterdir() if each.name not in NO_PAGES and each.name[0] != "."]
    for path in (path for folder in folders for end in ("py", "html") for path in folder.rglob(f"*.{end}")):
        if not desk and is_of_the_desk(path):
            continue
        source = path.read_text(encoding="utf-8")
        if "gettext" in source or "translate" in source or "_(" in source:
            found |= set(_marked_in(source if path.suffix == ".py" else _as_python(templatize(source))))
    plural = {(context, text) for context, text, form in found if form}
    return {key for key in found if key[2] or key[:2] not in plural}


def _as_python(templatized: str) -> str:
    """The calls in what Django makes of a template for gettext, a line each."""
    text = r"""u?'(?:[^'\\]|\\.)*'|u?"(?:[^"\\]|\\.)*\""""
    calls = re.findall(rf"(?<!\w)(?:(?:n|p|np)?gettext|_)\((?:{text}|, ?|\w+)*\)", templatized)
    return "\n".join(re.sub(r"^_\(", "gettext(", call) for call in calls)


def _marked_in(source: str) -> list[tuple[str, str, str]]:
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _MARKS:
            texts = [arg.value if isinstance(arg, ast.Constant) else "" for arg in node.args]
            context, text, plural = (texts[at] if at is not None else "" for at in _MARKS[node.func.id])
            if isinstance(text, str) and text:
                found.append((str(context), text, str(plural)))
    return found
