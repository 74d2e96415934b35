"""A golden release and the reports of evaluations, as digests of each part.

Numbers that were computed are cut to nine digits first, since processors differ in the last ones; of Parquet
the rows and types count, since each version of its library writes other bytes. What names versions of
libraries is left out.
"""

import hashlib
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management import call_command

from tests.contracts.scores import round_floats
from tests.repository import ROOT

_SHORT = 80
_FLOAT = re.compile(r"-?[0-9]+\.[0-9]{6,}(?:e-?[0-9]+)?")
#: Parts of JSON files that name the versions of libraries and digests of whole files.
_OF_VERSIONS = {"manifest.json": ("code", "files"), "report.json": ("versions", "distillery")}
#: Files that only repeat digests of others.
_LEFT_OUT = {"SHA256SUMS", "croissant.json"}


def build_release(folder: Path) -> None:
    """The release of the project `capitals` in all formats and three splits."""
    call_command(
        "release", "build", "capitals", "--formats", "all", "--out", str(folder),
        "--splits", "0.6,0.2,0.2", "--seed", "1", "--accept-findings", "made up", stdout=io.StringIO(),
    )  # fmt: skip


def evaluate(source: Path, folder: Path, *options: str) -> None:
    """The report of `manage.py evaluate` with few draws."""
    call_command(
        "evaluate", str(source), "--report", str(folder), "--processes", "1", "--seed", "7",
        "--replicates", "50", "--draws", "99", *options, stdout=io.StringIO(),
    )  # fmt: skip


def render_release(folder: Path) -> str:
    """A line with the digest of each file."""
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return "".join(
        f"{_digest(_plain_text(folder / name))}  {name}\n" for name in names if name not in _LEFT_OUT
    )


def render_evaluation(folder: Path) -> str:
    """Digests of the parts of a report, so that a difference says where it is, and of the tables."""
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    lines = [f"{name}: {_digest(_plain_text(folder / name))}" for name in ("scores.csv", "table.tex")]
    for key, value in report.items():
        if key in _OF_VERSIONS["report.json"]:
            continue
        parts = (
            {f"{key}.{name}": each for name, each in value.items()}
            if isinstance(value, dict)
            else {key: value}
        )
        lines += [f"report.json {name}: {_describe_part(each)}" for name, each in parts.items()]
    return "\n".join(lines) + "\n"


def _describe_part(value: Any) -> str:
    """A short value itself, a long one as its digest."""
    text = _json_text(value)
    return text if len(text) <= _SHORT else _digest(text)


def list_examples() -> dict[str, tuple[Path, tuple[str, ...]]]:
    """Evaluations of the tables in `examples`."""
    return {
        "kpqa": (
            ROOT / "examples/answers.csv",
            ("--profile", "kpqa-2021", "--metrics", "bleu-1,rouge-l", "--paired-bootstrap"),
        ),
    }


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _plain_text(path: Path) -> str:
    if path.suffix == ".parquet":
        return "\n".join(_parquet_lines(path))
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        value = json.loads(text)
        for key in _OF_VERSIONS.get(path.name, ()):
            value.pop(key, None)
        return _json_text(value)
    return _FLOAT.sub(lambda found: f"{float(found[0]):.9g}", text)


def _json_text(value: Any) -> str:
    return json.dumps(round_floats(value), ensure_ascii=False)


def _parquet_lines(path: Path) -> Iterator[str]:
    from pyarrow import parquet

    table = parquet.read_table(path)
    yield from (f"{field.name}: {field.type}" for field in table.schema)
    yield from (json.dumps(round_floats(row), ensure_ascii=False, default=str) for row in table.to_pylist())
