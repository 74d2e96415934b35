"""The command line: `distillery study apply|status|close|reopen`, `release get` and `evaluate`.

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

from distillery_client.client import Client, Release
from distillery_client.errors import ApiError, DistilleryError
from distillery_client.generated import models
from distillery_client.sending import VERSION, RetryPolicy

_INTERRUPTED = 130
#: Somebody waits at the terminal: a wrong address is told within seconds.
_RETRY = RetryPolicy(attempts=4)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; 0 done, 1 refused, 2 wrong words, 130 interrupted."""
    options = _parser().parse_args(arguments)
    url = options.url or os.environ.get("DISTILLERY_URL", "")
    token = options.token or os.environ.get("DISTILLERY_TOKEN", "")
    if not url or not token:
        missing = " and ".join(name for name, value in (("--url", url), ("--token", token)) if not value)
        _complain(f"{missing} missing: give them here, or as DISTILLERY_URL and DISTILLERY_TOKEN.")
        return 2
    try:
        with Client(url, token, retry=_RETRY, progress=False if options.json else None) as client:
            options.run(client, options)
    except ApiError as error:
        for field, sentences in error.errors.items():
            for sentence in sentences:
                is_named = sentence.casefold().startswith(field.casefold())
                _complain(sentence if is_named else f"{field}: {sentence}")
        if not error.errors:
            _complain(error.detail)
        return 1
    except FileNotFoundError as error:
        _complain(f"There is no file {error.filename}.")
        return 1
    except (DistilleryError, OSError, TimeoutError) as error:
        _complain(str(error))
        return 1
    except KeyboardInterrupt:
        _complain("Interrupted. The same command goes on where this one stopped.")
        return _INTERRUPTED
    return 0


def _complain(message: str) -> None:
    print(message, file=sys.stderr)


def _parser() -> argparse.ArgumentParser:
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument(
        "--url", default="", help="the installation, such as https://crowd.example.org (DISTILLERY_URL)"
    )
    shared.add_argument("--token", default="", help="your API token (DISTILLERY_TOKEN)")
    shared.add_argument("--json", action="store_true", help="print JSON for programs, and no progress")
    parser = argparse.ArgumentParser(
        prog="distillery", description="Work with a Distillery installation over its REST API."
    )
    parser.add_argument("--version", action="version", version=VERSION)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    study = commands.add_parser("study", help="a project and its stages, as a file")
    _add_study(study.add_subparsers(required=True, metavar="ACTION"), shared)
    release = commands.add_parser("release", help="frozen data sets of a project")
    get = release.add_subparsers(required=True, metavar="ACTION").add_parser(
        "get",
        parents=[shared],
        help="download a release",
        description="Download a release and check every file against its digest. Files that are there "
        "already are not fetched again, and a download that broke off goes on where it stopped.",
    )
    _add_release(get)
    get.add_argument("--out", type=Path, default=Path(), metavar="DIR", help="default: the current folder")
    get.set_defaults(run=_get)
    evaluate = commands.add_parser(
        "evaluate",
        parents=[shared],
        help="which metrics agree with people",
        description="Have the installation compute metrics on a release, and compare them with the scores "
        "that people gave.",
    )
    _add_release(evaluate)
    evaluate.add_argument("--stage", default="", help="judging stage with the scores (default: the only one)")
    evaluate.add_argument("--profile", default="default", help="default, or a paper's, such as kpqa-2021")
    evaluate.add_argument(
        "--metrics", "--metric", action="append", default=[], metavar="A,B",
        help="such as bleu-4,rouge-l; may be repeated (default: those of the profile)",
    )  # fmt: skip
    evaluate.add_argument("--seed", type=int, default=0, help="random seed (default: 0)")
    evaluate.set_defaults(run=_evaluate)
    return parser


def _add_study(actions: Any, shared: argparse.ArgumentParser) -> None:
    apply = actions.add_parser(
        "apply",
        parents=[shared],
        help="create or change a project so that it is as a file says",
        description="Create or change a project and its stages so that they are as a TOML file says. "
        "No stage is opened.",
    )
    apply.add_argument("file", type=Path)
    apply.add_argument("--dry-run", action="store_true", help="check the file, and change nothing")
    apply.set_defaults(run=_apply)
    status = actions.add_parser("status", parents=[shared], help="how far each stage of a project is")
    status.add_argument("project", metavar="PROJECT", help="short name of the project")
    status.set_defaults(run=_status)
    for name, summary, more in (
        ("close", "close a project whose stages are drafts or closed", "No stage is made or opened in it."),
        ("reopen", "let stages of a closed project be made and opened again", "No stage is opened by this."),
    ):
        end = actions.add_parser(
            name, parents=[shared], help=summary, description=f"{summary[:1].upper()}{summary[1:]}. {more}"
        )
        end.add_argument("project", metavar="PROJECT", help="short name of the project")
        end.add_argument("--why", default="", help="kept in the log of the project")
        end.set_defaults(run=_close if name == "close" else _reopen)


def _add_release(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("project", metavar="PROJECT[/VERSION]", help="short name, such as tea or tea/1.0.0")
    parser.add_argument("version", nargs="?", default="", metavar="VERSION", help="default: the newest")


def _release(client: Client, options: argparse.Namespace) -> Release:
    slug, _, version = options.project.partition("/")
    project = client.project(slug)
    version = version or options.version
    return project.release(version) if version else project.newest_release()


def _apply(client: Client, options: argparse.Namespace) -> None:
    content = options.file.read_bytes()
    outcome = client.check_study(content) if options.dry_run else client.apply_study(content)
    if options.json:
        print(outcome.model_dump_json(indent=2))
        return
    for change in outcome.changes:
        if change.action != "unchanged":
            print(f"{change.action}: {change.what} {change.name}")
    for caution in outcome.cautions:
        print(f"line {caution.line}, {caution.field}: {caution.what} {caution.remedy}")
    for slug, quote in (outcome.quotes or {}).items():
        print(f"{slug}: {quote.hits} HITs, {quote.total_cents / 100:.2f} with fees")
    print(
        {"applied": "Applied.", "checked": "Nothing was changed."}.get(outcome.outcome, "Nothing to change.")
    )


def _status(client: Client, options: argparse.Namespace) -> None:
    status = client.get_status(options.project)
    if options.json:
        print(json.dumps(status.model_dump(mode="json"), indent=2, ensure_ascii=False))
        return
    if not status.stages:
        print(f"{status.project} has no stages yet.")
    rows = [("stage", "kind", "status", "done", "held")]
    rows += [(s.stage, s.kind, s.status, f"{s.done}/{s.total}", str(s.held)) for s in status.stages]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows if status.stages else ():
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _close(client: Client, options: argparse.Namespace) -> None:
    _print_end(client.project(options.project).close(options.why), options, "closed")


def _reopen(client: Client, options: argparse.Namespace) -> None:
    _print_end(client.project(options.project).reopen(options.why), options, "open again")


def _print_end(project: models.ProjectOut, options: argparse.Namespace, state: str) -> None:
    if options.json:
        closed_at = project.closed_at.isoformat() if project.closed_at else None
        print(json.dumps({"project": project.slug, "closed_at": closed_at}))
    else:
        print(f"{project.slug} is {state}.")


def _get(client: Client, options: argparse.Namespace) -> None:
    release = _release(client, options)
    folder = release.download(options.out)
    if options.json:
        print(json.dumps({"version": release.version, "folder": str(folder)}))
    else:
        count = sum(each.is_file() for each in folder.rglob("*"))
        print(f"{folder}: {count} files, whole.")


def _evaluate(client: Client, options: argparse.Namespace) -> None:
    metrics = [name for each in options.metrics for name in _split_names(each)]
    plan: dict[str, Any] = {"stage": options.stage, "profile": options.profile, "metrics": metrics}
    evaluation = _release(client, options).evaluate(**plan, seed=options.seed)
    if options.json:
        print(json.dumps(evaluation.report, ensure_ascii=False))
    else:
        value = "" if evaluation.best_value is None else f" (Pearson {evaluation.best_value:.3f})"
        print(
            f"Evaluation {evaluation.number} of release {evaluation.release}: best is "
            f"{evaluation.best or 'none'}{value}."
        )


def _split_names(text: str) -> list[str]:
    """Names between commas; those within brackets are parameters of a metric."""
    names, depth = [""], 0
    for sign in text:
        depth += (sign == "(") - (sign == ")")
        if sign == "," and not depth:
            names.append("")
        else:
            names[-1] += sign
    return [name.strip() for name in names if name.strip()]


if __name__ == "__main__":
    sys.exit(main())
