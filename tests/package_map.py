"""`python -m tests.package_map`: write the map of packages into docs/ from their docstrings."""

import ast
import re
import tomllib
from pathlib import Path

from tests.repository import ROOT, find_committed_files

#: Pages with a map, and how many levels of packages each has.
PAGES = {ROOT / "docs/architecture.md": 1, ROOT / "docs/packages.md": 3}
BEGIN = "<!-- packages: written by `make package-map` -->"
END = "<!-- end of packages -->"
_NOT_SHOWN = {"management", "migrations", "sample", "samples"}


def build_page(text: str, levels: int) -> str:
    """The page with its map as the code has it now."""
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    rows = [f"| `{name}` | {says} |" for name, says in list_descriptions(levels)]
    return "\n".join(
        [f"{before}{BEGIN}", "", "| package | what is in it |", "|---|---|", *rows, "", f"{END}{after}"]
    )


def list_descriptions(levels: int) -> list[tuple[str, str]]:
    """Packages by layer, from the top, then by name, each with the first sentence of its docstring."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    order = " ".join(project["tool"]["importlinter"]["contracts"][0]["layers"]).replace("|", " ").split()
    found = []
    for path in find_committed_files():
        names = path.relative_to(ROOT).parts[:-1]
        if path.name != "__init__.py" or not names or names[0] not in order:
            continue
        if len(names) <= levels and not _NOT_SHOWN & set(names):
            found.append((".".join(names), read_first_sentence(path)))
    return sorted(found, key=lambda row: (order.index(row[0].split(".")[0]), row[0]))


def read_first_sentence(path: Path) -> str:
    """The first paragraph of a module's docstring up to its first full stop."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    paragraph = " ".join(text.split("\n\n")[0].split())
    return re.split(r"(?<!al)\. ", paragraph)[0].rstrip(".").replace("|", "\\|")


def main() -> None:
    """Write every map."""
    for page, levels in PAGES.items():
        page.write_text(build_page(page.read_text(encoding="utf-8"), levels), encoding="utf-8")


if __name__ == "__main__":
    main()
