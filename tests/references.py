"""Names of our modules and paths of our files in prose: pages, comments and docstrings.

A name outlives what it names: nothing fails when a module is moved and a comment still sends readers to it.
"""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.repository import ROOT, find_committed_files, list_packages, read_texts

#: Folders with paths that prose names, beside our packages.
FOLDERS = ("tests", "benchmarks", "docs", "docker", "templates", "static", "requirements", "examples")
#: Pages about what was: the changelog, decisions of their day.
HISTORY = ("CHANGELOG.md", "docs/decisions")
_ENDINGS = {"py", "md", "html", "css", "js", "toml", "txt", "json", "csv", "org", "com", "net", "sh", "xml"}


def find_faults() -> list[str]:
    """A line for each name in prose that nothing has: file, line, name."""
    name = re.compile(rf"(?<![\w./@-])(?:{'|'.join(list_packages())})(?:\.[A-Za-z_]\w*)+(?![\w/]|\.\w)")
    path = re.compile(rf"(?<![\w./<>$}}-])(?:{'|'.join([*list_packages(), *FOLDERS])})/[\w./-]*\.(?:py|md)\b")
    faults = []
    for file, text in read_texts():
        if file.startswith(HISTORY) or not file.endswith((".md", ".py")):
            continue
        suspects = {match[0] for match in name.finditer(text) if not is_known(match[0])}
        suspects |= {match[0] for match in path.finditer(text) if not _is_file(match[0], beside=file)}
        if suspects:
            lines = _prose_of_code(text) if file.endswith(".py") else enumerate(text.splitlines(), 1)
            for number, line in lines:
                found = {match[0] for pattern in (name, path) for match in pattern.finditer(line)}
                faults += [f"{file}:{number} {each}" for each in sorted(found & suspects)]
    return faults


def _is_file(path: str, *, beside: str) -> bool:
    return (ROOT / path).exists() or (ROOT / beside).parent.joinpath(path).exists()


def _prose_of_code(text: str) -> Iterator[tuple[int, str]]:
    fresh = True
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT or (token.type == tokenize.STRING and fresh):
            yield from enumerate(token.string.splitlines(), token.start[0])
        # A string that begins a logical line is a docstring.
        fresh = token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT) or (
            fresh and token.type in (tokenize.COMMENT, tokenize.NL)
        )


@cache
def is_known(name: str) -> bool:
    """Whether it is a module of ours, something in one, a table, or a name that the code has as a string."""
    parts = name.split(".")
    if parts[-1] in _ENDINGS or name in _strings() or (len(parts) == 2 and parts[1] in _tables(parts[0])):
        return True
    for length in range(len(parts), 0, -1):
        place = ROOT.joinpath(*parts[:length])
        module = place.with_suffix(".py")
        if place.is_dir():
            if length == len(parts):
                return True
            module = place / "__init__.py"
        if module.is_file():
            # Most names are of a module: its text is then not read.
            return length == len(parts) or not {parts[length], "__getattr__"}.isdisjoint(_names_in(module))
    return False


@cache
def _strings() -> frozenset[str]:
    """Strings of the code with a point in them: kinds of jobs, names of events, loggers, permissions."""
    found: set[str] = set()
    for file in find_committed_files():
        if file.suffix == ".py":
            text = file.read_text(encoding="utf-8")
            found.update(re.findall(r"""["']([a-z_]+(?:\.\w+)+)["']""", text))
    return frozenset(found)


@cache
def _tables(app: str) -> frozenset[str]:
    """Models of an app, which Django calls by app and class."""
    modules = [file for above in ("", "core/") for file in ROOT.glob(f"{above}{app}/models*/*.py")]
    modules += [file for above in ("", "core/") for file in ROOT.glob(f"{above}{app}/models.py")]
    return frozenset(name for module in modules for name in _names_in(module))


@cache
def _names_in(module: Path) -> frozenset[str]:
    """Functions, classes, values and imports at the top of a module."""
    found: set[str] = set()
    for node in ast.parse(module.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found.update(alias.asname or alias.name for alias in node.names)
        else:
            found.update(each.id for each in ast.walk(node) if isinstance(each, ast.Name))
    return frozenset(found)
