"""The structure of the code in numbers, beside the goals of its architecture.

    make shape                       or: python -m tests.shape [--list NAME]

`--list` prints what one row counts, a line each. The product is what an installation can have: packages and
`distributions/`, without tests, migrations and benchmarks. From the functions on, the rows look at the
product outside `distributions/`.
"""

import argparse
import ast
import io
import re
import sys
import tokenize
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from statistics import median, quantiles

import grimp

from tests.names import find_names
from tests.repository import ROOT, list_packages, read_texts

_LONGEST_TEMPLATE_LINE = 160
_NO_PRODUCT = re.compile(r"^(benchmarks|docs|docker|\.ci)/|(^|/)(tests|migrations)/")
_NOQA = re.compile(r"#\s*(?:ruff:\s*)?noqa(?::\s*[A-Z0-9, ]+)?(?P<reason>.*)")


@dataclass(frozen=True)
class Module:
    """A file of Python: its path from the root and its text."""

    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        """Its syntax."""
        return ast.parse(self.text)

    @property
    def lines(self) -> int:
        """All of them, blank ones too."""
        return self.text.count("\n")


@dataclass(frozen=True)
class Row:
    """One figure: its name, its value, the goal, and the places that it counts."""

    name: str
    value: str
    goal: str = ""
    places: tuple[str, ...] = ()


def measure() -> list[Row]:
    """All rows."""
    every = [Module(path, text) for path, text in read_texts() if path.endswith(".py")]
    product = [module for module in every if not _NO_PRODUCT.search(module.path)]
    modules = [module for module in product if not module.path.startswith("distributions/")]
    tests = [module for module in every if module.path.startswith("tests/")]
    lengths = [length for module in modules for length in _function_lengths(module)]
    lines = _count_lines(modules)
    comments = [place for module in modules for place in _comments(module)]
    rows = [
        Row("lines of the product", f"{_count_lines(product):,}", "≤ 180,000"),
        Row("of them outside distributions/", f"{lines:,}", "≤ 150,000"),
        Row("lines of tests", f"{_count_lines(tests):,}", "≤ 97,000"),
        Row("functions: median length", f"{median(lengths):.0f} lines"),
        Row("functions: 90th percentile", f"{quantiles(lengths, n=10)[-1]:.0f} lines"),
        Row("comments", f"{len(comments) / lines:.1%} of lines", "3 to 6 %", tuple(comments)),
    ]
    counts: list[tuple[str, str, Callable[[], list[str]]]] = [
        ("files", "≤ 850", lambda: [module.path for module in modules]),
        ("folders", "≤ 80", lambda: sorted({str(Path(module.path).parent) for module in modules})),
        ("modules with one importer, a sibling", "≤ 60", _single_sibling_importers),
        ("circles of imports", "0", _circles),
        ("noqa", "≤ 120", lambda: [place for place, _ in _noqas(modules)]),
        ("noqa without a reason", "0", lambda: [place for place, reason in _noqas(modules) if not reason]),
        ("names that say nothing", "0", lambda: sorted(" ".join(name) for name in find_names())),
        ("lines of templates over 160", "0", _long_template_lines),
        ("broad except", "≤ 10", lambda: [place for module in modules for place in _broad_excepts(module)]),
    ]
    for name, goal, list_places in counts:
        places = tuple(list_places())
        rows.append(Row(name, f"{len(places):,}", goal, places))
    return rows


def _count_lines(modules: list[Module]) -> int:
    return sum(module.lines for module in modules)


def _function_lengths(module: Module) -> list[int]:
    return [
        node.end_lineno - node.lineno + 1
        for node in ast.walk(module.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno
    ]


def _comments(module: Module) -> list[str]:
    return [
        f"{module.path}:{token.start[0]}"
        for token in tokenize.generate_tokens(io.StringIO(module.text).readline)
        if token.type == tokenize.COMMENT and not re.search("noqa|type: ignore", token.string)
    ]


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
    places = []
    for module in sorted(graph.modules):
        importers = graph.find_modules_that_directly_import(module)
        if len(importers) == 1:
            [importer] = importers
            if importer.rpartition(".")[0] == module.rpartition(".")[0]:
                places.append(f"{module}, of {importer.rpartition('.')[2]}")
    return places


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


def _broad_excepts(module: Module) -> list[str]:
    return [
        f"{module.path}:{node.lineno}"
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or ast.unparse(node.type) in ("Exception", "BaseException"))
    ]


def main() -> None:
    """Print the table, or the places of one row."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--list", metavar="NAME", help="print what the row of this name counts")
    name = parser.parse_args().list
    rows = measure()
    if name:
        row = next((row for row in rows if row.name == name), None)
        if row is None:
            sys.exit(f"There is no row {name!r}; there are: {', '.join(row.name for row in rows)}.")
        print("\n".join(row.places))
        return
    for row in rows:
        print(f"{row.name:<40} {row.value:>16}   {row.goal}")


if __name__ == "__main__":
    main()
