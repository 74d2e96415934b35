"""Names that say nothing without the place they are used in: bare participles, gerunds, adverbs, `do`.

A class or module is called by a noun of the field (docs/glossary.md), a function by a verb and its object.
What was called otherwise before that rule is listed in `names_allowed.txt`, each name with its number. The
list only gets shorter:

    python -m tests.names       take off it what is gone, and print how many are left

Names stand without their places, so that a move changes nothing in the list.
"""

import ast
import re
import sys
from collections import Counter
from pathlib import Path

from tests.repository import list_packages, read_texts

ALLOWED = Path(__file__).parent / "names_allowed.txt"
KINDS = ("class", "module", "function")
FUNCTIONS = {"do", "made", "said"}
_NOUNS = """
bed creed deed feed greed need reed seed shed speed thread weed ceiling embedding encoding finding
heading holding importing indexing judging king listing locking matching meaning monitoring
oversampling parsing planning polling ranking rating reading resampling ring sampling scoring screening
setting sharding signing spelling spring string thing training warning wing
"""
_IRREGULAR = """
begun bound bought broken brought built caught chosen done drawn driven eaten fallen felt forgotten
found frozen given gone grown heard held hidden kept known laid learnt left lent lost made meant met
paid proven read ridden risen said seen sent shown sold spent spoken spread stolen stood stuck sworn
taken taught thought thrown told torn understood won worn written
"""
_PARTICLES = """
about above again against ahead along anew apart around aside away back before behind below beside
between beyond enough for here how later near once ordinary over somebody soon there through
together until where whole within without
"""
#: Nouns that look like participles: the field's own words, and those of every day.
NOUNS = frozenset(_NOUNS.split())
#: Participles that do not end in -ed.
IRREGULAR = frozenset(_IRREGULAR.split())
#: Adverbs, prepositions, pronouns and adjectives that leave their noun out.
PARTICLES = frozenset(_PARTICLES.split())


def is_participle(word: str) -> bool:
    """Whether a name of one word is a participle, a gerund or an adverb, and no noun of the field."""
    if not re.fullmatch("[A-Z]?[a-z]+", word):
        return False
    word = word.lower()
    if word in NOUNS:
        return False
    return word in IRREGULAR or word in PARTICLES or bool(re.fullmatch(r"[a-z]+(?:ed|ing)", word))


#: What a file may define: it is parsed only where a name among it says nothing.
DEFINED = re.compile(r"^ *(class|def) +(\w+)", re.MULTILINE)


def find_names() -> dict[tuple[str, str], list[str]]:
    """Such names in our packages: (kind, name) -> the files that have them, one entry for each."""
    found: dict[tuple[str, str], list[str]] = {}
    packages = list_packages()
    folders: set[str] = set()
    for path, text in read_texts():
        top, *_ = path.split("/")
        if not path.endswith(".py") or top not in packages or "/migrations/" in path:
            continue
        *above, module = path.removesuffix(".py").split("/")
        folders |= {"/".join(above[: depth + 1]) for depth in range(len(above))}
        if is_participle(module):
            found.setdefault(("module", module), []).append(path)
        if not any(
            is_participle(name.strip("_")) if kind == "class" else name.strip("_") in FUNCTIONS
            for kind, name in DEFINED.findall(text)
        ):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ClassDef) and is_participle(node.name.strip("_")):
                found.setdefault(("class", node.name), []).append(path)
            elif isinstance(node, ast.FunctionDef) and node.name.strip("_") in FUNCTIONS:
                found.setdefault(("function", node.name), []).append(path)
    for folder in folders:
        if is_participle(name := folder.rpartition("/")[2]):
            found.setdefault(("module", name), []).append(f"{folder}/")
    return found


def read_allowed() -> Counter[tuple[str, str]]:
    """How many of each name are allowed still."""
    lines = (line.split() for line in ALLOWED.read_text(encoding="utf-8").splitlines())
    return Counter({(kind, name): int(count) for kind, name, count in lines})


def write_allowed(allowed: Counter[tuple[str, str]]) -> None:
    """The list, kind after kind in the order of the alphabet."""
    rows = sorted(allowed.items(), key=lambda row: (KINDS.index(row[0][0]), row[0][1].strip("_"), row[0][1]))
    ALLOWED.write_text("".join(f"{kind} {name} {count}\n" for (kind, name), count in rows), encoding="utf-8")


def count_kinds(names: Counter[tuple[str, str]]) -> str:
    """How many there are of each kind, in words."""
    totals = {kind: sum(count for (each, _), count in names.items() if each == kind) for kind in KINDS}
    plural = {"class": "classes", "module": "modules", "function": "functions"}
    return ", ".join(f"{totals[kind]} {plural[kind]}" for kind in KINDS)


def find_faults() -> list[str]:
    """A sentence for each name that is new, and for each that the list has too often."""
    places, allowed = find_names(), read_allowed()
    new = [
        f"{kind} {name}: {len(files)} instead of {allowed[kind, name]} ({', '.join(sorted(set(files)))})"
        for (kind, name), files in sorted(places.items())
        if len(files) > allowed[kind, name]
    ]
    gone = [
        f"{kind} {name}: {len(places.get((kind, name), []))} left of {count}; run python -m tests.names"
        for (kind, name), count in sorted(allowed.items())
        if len(places.get((kind, name), [])) < count
    ]
    return new + gone


def main() -> int:
    """Take off the list what is gone; a name that is new stays a fault."""
    now = Counter({key: len(files) for key, files in find_names().items()})
    before = read_allowed()
    write_allowed(before & now)
    print(f"Listed before: {count_kinds(before)}. Now: {count_kinds(before & now)}.")  # noqa: T201
    new = now - before
    for (kind, name), count in sorted(new.items()):
        print(f"New, and not allowed: {kind} {name} ({count})")  # noqa: T201
    return 1 if new else 0


if __name__ == "__main__":
    sys.exit(main())
