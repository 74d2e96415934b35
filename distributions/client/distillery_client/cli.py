"""The command line: `distillery study apply`, `study status`, `release get`, `evaluate`, on an installation.

The words are those of `manage.py`. Where the installation is, and the token: `--url` and `--token`, or
DISTILLERY_URL and DISTILLERY_TOKEN.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from distillery_client.client import Client
from distillery_client.errors import ApiError, DistilleryError
from distillery_client.generated import models


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; 0 done, 1 refused, 2 wrong words."""
    given = _parser().parse_args(arguments)
    url = given.url or os.environ.get("DISTILLERY_URL", "")
    token = given.token or os.environ.get("DISTILLERY_TOKEN", "")
    if not url or not token:
        print("Say where the installation is and who asks: --url and --token, or DISTILLERY_URL and "
              "DISTILLERY_TOKEN.", file=sys.stderr)  # fmt: skip
        return 2
    try:
        with Client(url, token) as client:
            given.run(client, given)
    except ApiError as error:
        for field, sentences in error.errors.items():
            for sentence in sentences:
                print(f"{field}: {sentence}" if field else sentence, file=sys.stderr)
        if not error.errors:
            print(error.detail, file=sys.stderr)
        return 1
    except (DistilleryError, OSError, TimeoutError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--url", default="", help="where the installation is (DISTILLERY_URL)")
    shared.add_argument("--token", default="", help="a token of the API (DISTILLERY_TOKEN)")
    shared.add_argument("--json", action="store_true", help="print JSON")
    parser = argparse.ArgumentParser(
        prog="distillery", description="A Distillery installation from elsewhere."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    study = commands.add_parser("study", help="a project and its stages as a file").add_subparsers(
        required=True, metavar="ACTION"
    )
    apply = study.add_parser("apply", parents=[shared], help="have a project be as a file says")
    apply.add_argument("file", type=Path)
    apply.add_argument("--dry-run", action="store_true", help="check, and change nothing")
    apply.set_defaults(run=_apply)
    status = study.add_parser("status", parents=[shared], help="how far a project is")
    status.add_argument("project", help="its short name")
    status.set_defaults(run=_status)
    release = commands.add_parser("release", help="releases").add_subparsers(required=True, metavar="ACTION")
    get = release.add_parser("get", parents=[shared], help="download a release, and check its files")
    get.add_argument("project", help="its short name")
    get.add_argument("version", nargs="?", default="", help="default: the newest that is ready")
    get.add_argument("--out", type=Path, default=Path(), help="folder (default: this one)")
    get.set_defaults(run=_get)
    evaluate = commands.add_parser("evaluate", parents=[shared], help="compare metrics with people")
    evaluate.add_argument("project", help="its short name")
    evaluate.add_argument("version", help="of a release")
    evaluate.add_argument("--stage", default="")
    evaluate.add_argument("--profile", default="default")
    evaluate.add_argument("--metric", action="append", default=[], help="repeat; default: the profile's")
    evaluate.add_argument("--seed", type=int, default=0)
    evaluate.set_defaults(run=_evaluate)
    return parser


def _apply(client: Client, given: argparse.Namespace) -> None:
    content = given.file.read_bytes()
    found = client.check_study(content) if given.dry_run else client.apply_study(content)
    if given.json:
        print(found.model_dump_json(indent=2))
        return
    for change in found.changes:
        if change.action != "unchanged":
            print(f"{change.action}: {change.what} {change.name}")
    for caution in found.cautions:
        print(f"line {caution.line}, {caution.field}: {caution.what} {caution.remedy}")
    for slug, quote in (found.quotes or {}).items():
        print(f"{slug}: {quote.hits} HITs, {quote.total_cents / 100:.2f} with fees")
    print({"applied": "Applied.", "checked": "Nothing was changed."}.get(found.outcome, "Nothing to change."))


def _status(client: Client, given: argparse.Namespace) -> None:
    found = client.get_status(given.project)
    print(json.dumps(found.model_dump(mode="json"), indent=2, ensure_ascii=False))


def _get(client: Client, given: argparse.Namespace) -> None:
    project = client.project(given.project)
    version = given.version
    if not version:
        rows = client.pages(client.list_releases, given.project, order="newest")
        newest = next((row for row in rows if row.state == "ready"), None)
        if newest is None:
            raise ApiError(404, "no_release", f"{given.project} has no release that is ready.")
        version = newest.version
    said = None if given.json else print
    folder = project.release(version).download(given.out, progress=said)
    print(json.dumps({"version": version, "folder": str(folder)}) if given.json else f"{folder}: whole.")


def _evaluate(client: Client, given: argparse.Namespace) -> None:
    release = client.project(given.project).release(given.version)
    plan: dict[str, Any] = {"stage": given.stage, "profile": given.profile, "metrics": given.metric}
    found = release.evaluate(**plan, seed=given.seed, progress=None if given.json else _show_progress())
    if given.json:
        print(json.dumps(found.report, ensure_ascii=False))
    else:
        value = "" if found.best_value is None else f" (Pearson {found.best_value:.3f})"
        print(f"Evaluation {found.number} of release {found.release}: best is {found.best or 'none'}{value}.")


def _show_progress() -> Any:
    last = ""

    def show(job: models.JobDetails) -> None:
        nonlocal last
        words = f"{job.progress_note or job.state} {job.progress_done}/{job.progress_total}"
        if words != last and sys.stderr.isatty():
            print(f"\r\033[K{words}", end="\n" if job.state == "done" else "", file=sys.stderr, flush=True)
        last = words

    return show


if __name__ == "__main__":
    sys.exit(main())
