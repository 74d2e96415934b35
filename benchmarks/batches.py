"""Measures a batch: reading a table, and publishing its rows.

    .venv/bin/python benchmarks/batches.py --database both --rows 5000

The table has quotes, line feeds, emoji and a byte order mark; the page is of 3 KB. Each database starts
empty, and has a server beside it, as an installation has.
"""

import argparse
import io
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

PLACES = 3


def table(rows: int) -> bytes:
    """A table as a spreadsheet writes it."""
    lines = ["text,topic,image_url"]
    for number in range(rows):
        text = f'Row {number}: ""quoted"", with\nline feeds, “typographic” marks and 🦊 ' + "words " * 40
        lines.append(f'"{text}",topic {number % 7},https://pictures.example.org/{number}.jpg')
    return b"\xef\xbb\xbf" + "\r\n".join(lines).encode()


PAGE = """<html><body><h1>${topic}</h1><p>${text}</p><img src="${image_url}" alt="">
<form><label>What do you see? <textarea name="answer" required></textarea></label>
<label><input type="radio" name="good" value="yes"> Good</label></form>
%s</body></html>""" % ("<p>Instructions of the usual length, in several sentences.</p>\n" * 30)


def measure_inside(rows: int) -> dict[str, Any]:
    """Seconds, of the clock and of the processor, in a process that has the database to itself."""
    from benchmarks.environment import setup  # noqa: PLC0415  # only the inner process has Django

    setup()
    from django.db import connection  # noqa: PLC0415

    from core.jobs import runner  # noqa: PLC0415
    from marketplace import ledger  # noqa: PLC0415
    from marketplace.batches import drafts, publication  # noqa: PLC0415
    from marketplace.batches.properties import Properties  # noqa: PLC0415
    from marketplace.batches.sheets import Sheet  # noqa: PLC0415
    from marketplace.batches.templates import create_template  # noqa: PLC0415
    from marketplace.models import Batch  # noqa: PLC0415
    from marketplace.services import people  # noqa: PLC0415

    lab, _ = people.create_requester(name="Batch lab")
    lab = people.deposit(requester=lab, cents=10_000_000)
    properties = Properties("Look", "Say what you see.", reward_cents=10, places=PLACES)
    template = create_template(requester=lab, name="Page", html=PAGE, properties=properties)
    file = io.BytesIO(table(rows))
    found: dict[str, Any] = {"database": connection.vendor}

    def timed(name: str, action: Any) -> Any:
        begin, spent = time.perf_counter(), time.process_time()
        value = action()
        found[name] = round(time.perf_counter() - begin, 2)
        found[f"{name}_processor"] = round(time.process_time() - spent, 2)
        return value

    draft = timed(
        "read",
        lambda: drafts.make_draft(
            requester=lab, template=template, properties=properties, sheet=Sheet(file, "tasks.csv")
        ),
    )
    job = publication.publish(batch=Batch.objects.select_related("requester").get(pk=draft.pk))
    timed("publish", lambda: runner.run(job_id=job.pk))
    batch = Batch.objects.get(pk=draft.pk)
    found |= {"state": batch.state, "hits": batch.hits.count(), "faults": ledger.audit()}
    return found


def main() -> None:
    """Measure on the databases that the command line names."""
    parser = argparse.ArgumentParser(description="Measure a batch.")
    parser.add_argument("--database", choices=["sqlite", "postgres", "both"], default="sqlite")
    parser.add_argument("--rows", type=int, default=5_000)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.inside:
        print(json.dumps(measure_inside(arguments.rows)))
        return
    from benchmarks.marketplace import AS_INSTALLED, database  # noqa: PLC0415
    from tests.server import RunningServer  # noqa: PLC0415

    names = ["sqlite", "postgres"] if arguments.database == "both" else [arguments.database]
    for name in names:
        with database(name), RunningServer(environment=AS_INSTALLED) as server:
            command = [sys.executable, "-m", "benchmarks.batches", "--inside", "--rows", str(arguments.rows)]
            done = subprocess.run(
                command, cwd=ROOT, env=server.environment, check=True, capture_output=True, text=True
            )
            print(done.stdout.strip())


if __name__ == "__main__":
    main()
