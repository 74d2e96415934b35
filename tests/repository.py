"""What the repository holds: its files, its packages, and the environment variables that its code reads."""

import ast
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
IGNORED = {".git", ".venv", "var", "node_modules", "__pycache__"}
#: Packages that are no part of the installation.
OUTSIDE = {"tests", "benchmarks"}


#: What a file has that reads an environment variable; only those are parsed.
ENVIRONMENT = re.compile(r"\benv\.|os\.environ|os\.getenv")


@cache
def find_committed_files() -> list[Path]:
    """Files that git knows or would add; everything in the folder where there is no git."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listing.returncode == 0:
        paths = [ROOT / line for line in listing.stdout.splitlines()]
    else:
        paths = [path for path in ROOT.rglob("*") if not IGNORED & set(path.relative_to(ROOT).parts)]
    return [path for path in paths if path.is_file()]


def read_texts() -> Iterator[tuple[str, str]]:
    """Relative name and content of every committed text file."""
    for path in find_committed_files():
        try:
            yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue


def list_packages() -> list[str]:
    """Names of the top-level packages of the installation, as the folder has them."""
    return sorted(path.parent.name for path in ROOT.glob("*/__init__.py") if path.parent.name not in OUTSIDE)


@cache
def find_added_apps() -> dict[str, str]:
    """Apps that packages of `distributions/` add to an installation: their folders by their names."""
    return {
        path.parent.name: str(path.parent.relative_to(ROOT))
        for path in ROOT.glob("distributions/*/*/apps.py")
    }


def find_variables() -> dict[str, set[str]]:
    """Environment variables that our packages read by a name in the code, and how: text, flag, integer."""
    found: dict[str, set[str]] = {}
    folders = tuple(f"{folder}/" for folder in (*list_packages(), *find_added_apps().values()))
    for name, text in read_texts():
        if not name.endswith(".py") or not name.startswith(folders) or not ENVIRONMENT.search(text):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and node.args:
                reads = re.match(r"(env\.\w+|os\.getenv|os\.environ\.get)$", ast.unparse(node.func))
                first = node.args[0]
            elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
                reads, first = re.match(r"os\.environ$", ast.unparse(node.value)), node.slice
            else:
                continue
            if reads and isinstance(first, ast.Constant) and isinstance(first.value, str):
                way = reads[0].removeprefix("env.") if reads[0].startswith("env.") else "os.environ"
                found.setdefault(first.value, set()).add(way)
    return found


def find_anchors(markdown: str) -> set[str]:
    """Anchors of a page's headings, as GitHub makes them."""
    prose = re.sub(r"^```.*?^```", "", markdown, flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", prose, flags=re.MULTILINE)
    plain = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower() for heading in headings]
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in plain}
