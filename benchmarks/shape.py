"""The structure of the code in numbers, beside the goals of its architecture.

    make shape                       or: python -m benchmarks.shape [--list NAME]

`--list` prints what one row counts, a line each. Looked at are the packages of the installation and their
templates, without migrations and tests.
"""

import argparse
import ast
import io
import re
import sys
import tokenize
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp

from tests.names import find_names
from tests.repository import ROOT, list_packages

_LONGEST_TEMPLATE_LINE = 160
_LITTLE = "a an and are as at by for from in is it its of on or that the their this to what which with"
#: Words of a docstring that say nothing beyond the name.
_EMPTY = frozenset(_LITTLE.split())
#: A list or table of a module that something is put into later.
_TABLE = re.compile(r"^_\w+(?:: [^\n]+)? = (?:\[\]|\{\})", re.MULTILINE)
_NOQA = re.compile(r"#\s*(?:ruff:\s*)?noqa(?::\s*[A-Z0-9, ]+)?(?P<reason>.*)")


@dataclass(frozen=True)
class Module:
    """A file of Python: its path from the root, its text and its tree."""

    path: str
    text: str
    tree: ast.Module

    @property
    def name(self) -> str:
        """As it is imported."""
        return self.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    @property
    def lines(self) -> int:
        """All of them, blank ones too."""
        return self.text.count("\n")


@dataclass(frozen=True)
class Row:
    """One figure: its name, its value, what it should be, and the places it counts."""

    name: str
    value: str
    wanted: str
    places: list[str]


def read_modules() -> list[Module]:
    """Every module of the installation."""
    paths = [
        path
        for package in list_packages()
        for path in sorted((ROOT / package).rglob("*.py"))
        if "migrations" not in path.parts
    ]
    texts = [(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")) for path in paths]
    return [Module(path, text, ast.parse(text)) for path, text in texts]


def measure(modules: list[Module]) -> list[Row]:
    """All rows."""
    lines = sum(module.lines for module in modules)
    comments, imports = _comments(modules), _imports(modules)
    counted: list[tuple[str, str, Callable[[], list[str]]]] = [
        ("files", "≤ 850", lambda: [module.path for module in modules]),
        ("folders", "≤ 80", lambda: sorted({str(Path(module.path).parent) for module in modules})),
        ("modules with one importer, a sibling", "≤ 60", _single_sibling_importers),
        ("circles of imports", "0", _circles),
        ("noqa", "≤ 120", lambda: [place for place, _ in _noqas(modules)]),
        ("noqa without a reason", "0", lambda: [place for place, reason in _noqas(modules) if not reason]),
        ("names that say nothing", "0", lambda: sorted(" ".join(name) for name in find_names())),
        ("lines of templates over 160", "0", _long_template_lines),
        ("docstrings that repeat the name", "0", lambda: list(_repeating_docstrings(modules))),
        ("functions add_… and know_…", "1", lambda: list(_registries(modules))),
        ("broad except", "≤ 10", lambda: list(_broad_excepts(modules))),
    ]
    rows = [Row("lines", f"{lines:,}", "", [])]
    for name, wanted, find in counted:
        places = find()
        rows.append(Row(name, f"{len(places):,}", wanted, places))
    rows.append(Row("comments", f"{len(comments) / lines:.1%} of lines", "3 to 6 %", comments))
    further = _further_docstring_lines(modules)
    rows.append(Row("further lines of docstrings", f"{further / lines:.1%} of lines", "", []))
    rows.append(Row("imports", f"{imports / lines:.1%} of lines", "≤ 6 %", []))
    return rows


def _comments(modules: list[Module]) -> list[str]:
    found = []
    for module in modules:
        for token in tokenize.generate_tokens(io.StringIO(module.text).readline):
            if (
                token.type == tokenize.COMMENT
                and "noqa" not in token.string
                and "type: ignore" not in token.string
            ):
                found.append(f"{module.path}:{token.start[0]}")
    return found


def _further_docstring_lines(modules: list[Module]) -> int:
    """Lines of docstrings beyond the first of each: what it takes, gives, refuses, and why it is so."""
    documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    return sum(
        (ast.get_docstring(node) or "").count("\n")
        for module in modules
        for node in ast.walk(module.tree)
        if isinstance(node, documented)
    )


def _imports(modules: list[Module]) -> int:
    return sum(
        node.end_lineno - node.lineno + 1
        for module in modules
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Import | ast.ImportFrom) and node.end_lineno
    )


def _noqas(modules: list[Module]) -> list[tuple[str, str]]:
    return [
        (f"{module.path}:{number}", match["reason"].strip(" #-"))
        for module in modules
        for number, line in enumerate(module.text.splitlines(), 1)
        if (match := _NOQA.search(line))
    ]


def _graph() -> grimp.ImportGraph:
    return grimp.build_graph(*list_packages(), cache_dir=None)


def _single_sibling_importers() -> list[str]:
    """Modules that one other module imports, which lies in the same folder: chapters of it."""
    graph = _graph()
    found = []
    for module in sorted(graph.modules):
        importers = graph.find_modules_that_directly_import(module)
        if len(importers) == 1:
            [importer] = importers
            if importer.rpartition(".")[0] == module.rpartition(".")[0]:
                found.append(f"{module}, of {importer.rpartition('.')[2]}")
    return found


def _circles() -> list[str]:
    graph = _graph()
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as circle:
        return [" imports ".join(reversed(circle.args[1]))]
    return []


def _long_template_lines() -> list[str]:
    return [
        f"{path.relative_to(ROOT).as_posix()}:{number}"
        for path in sorted((ROOT / "templates").rglob("*.*"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > _LONGEST_TEMPLATE_LINE
    ]


def _repeating_docstrings(modules: list[Module]) -> Iterator[str]:
    """Docstrings of one line all of whose words are in the name, or say nothing; digits are an example."""
    for module in modules:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                said = (ast.get_docstring(node) or "").strip()
                words = set(re.findall(r"[a-z]+", said.lower())) - _EMPTY
                name = set(re.findall(r"[a-z]+", re.sub(r"([A-Z])", r" \1", node.name).lower()))
                if said and not re.search(r"\n|\d", said) and words <= name:
                    yield f"{module.path}:{node.lineno} {node.name}"


def _registries(modules: list[Module]) -> Iterator[str]:
    """Functions that put something into a list or table of their module."""
    for module in modules:
        if not _TABLE.search(module.text):
            continue
        for node in module.tree.body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith(("add_", "know_")):
                yield f"{module.path}:{node.lineno} {node.name}"


def _broad_excepts(modules: list[Module]) -> Iterator[str]:
    for module in modules:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ExceptHandler) and (
                node.type is None or ast.unparse(node.type) in ("Exception", "BaseException")
            ):
                yield f"{module.path}:{node.lineno}"


def main() -> None:
    """Print the table, or the places of one row."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--list", metavar="NAME", help="print what the row of this name counts")
    given = parser.parse_args()
    rows = measure(read_modules())
    if given.list:
        row = next((row for row in rows if row.name == given.list), None)
        if row is None:
            sys.exit(f"There is no row {given.list!r}; there are: {', '.join(row.name for row in rows)}.")
        print("\n".join(row.places))
        return
    for row in rows:
        print(f"{row.name:<40} {row.value:>16}   {row.wanted}")


if __name__ == "__main__":
    main()
