"""What `judge` and `collect` share: from the file to a study that is served, until Ctrl-C."""

import contextlib
import errno
import json
import logging
import re
import signal
import socket
import webbrowser
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, time, timedelta
from functools import partial
from pathlib import Path
from subprocess import Popen, TimeoutExpired
from typing import Any, cast
from urllib.parse import urlsplit

import segno
from django.conf import settings
from django.contrib.auth.models import User
from django.core.files import locks
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, connections
from django.utils import timezone
from django.utils.dateparse import parse_date

from annotation.services.importing import ImportRefusedError
from core.accounts.commandline import add_header_row, pairs, user_named
from core.accounts.confirmation import put_off_factor
from core.accounts.sign_in_links import path_of_link
from core.errors import ActionError
from core.files.cells import quote_names
from core.files.reading import reading_lines
from core.files.refusals import FileRefusedError
from crowd.study.explain import StudyError
from distillery.empty_database import load_schema
from distillery.management.commands.up import migrate_waiting, one_at_a_time
from distillery.server_process import LOG, run_server, wait_until_healthy
from distillery.studies.preparation import MadeStudy, StudyPlan, make_draft, name_of_study, open_study
from distillery.studies.presets import Preset, fitting_preset, presets_of
from distillery.studies.progress import StudyProgress, progress_of
from distillery.studies.tables import Choices, StudyTable
from judgments.questionnaire.units import asked_units
from marketplace.forms.loopback import is_loopback
from metrics.figure import counted
from people.links import address_of
from people.models import ConsentText

#: The account of the person at the terminal, who signs in by the link that is printed.
RESEARCHER = "researcher"
#: The file of the data folder that names the port on which its studies are served.
SERVED_ON = "served-on"
_MOST_REFUSALS, _MOST_PEOPLE, _PORTS = 10, 1000, 1 << 16
#: Requests under way have so long to end after Ctrl-C.
_STOP_SECONDS, _LOOK_SECONDS = 5, 1.0
_ADDRESS = re.compile(r"https?://([a-z0-9.-]*[a-z0-9]|\[[0-9a-f:.]+])(:(?P<port>\d{1,5}))?/?", re.I)
_DURATION = re.compile(r"(\d{1,5})\s*([mhd])")
_UNITS = {"m": "minutes", "h": "hours", "d": "days"}
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


class StudyCommand(BaseCommand):
    """From one file to an open study. Subclasses say which kind of stage, and what its units are called."""

    kind = ""
    #: Of one unit, and of what people give: words for counts.
    unit, contribution = "", ""
    #: The option that says how many people each unit gets.
    people_option = ""
    requires_system_checks: list[str] = []  # `up` makes them

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The file, how it is read, what is asked, and where it is served."""
        parser.add_argument(
            "file", type=Path, help="a table (CSV, TSV, XLSX, JSON, JSONL), or a folder of them"
        )
        parser.add_argument(
            self.people_option,
            dest="people",
            type=int,
            metavar="N",
            help=f"people who give {self.contribution} to each {self.unit} (default: 3)",
        )
        parser.add_argument(
            "--preset", choices=sorted(presets_of(self.kind)), help="default: the one that fits"
        )
        parser.add_argument("--title", default="", help="what people see as its name (default: the file's)")
        parser.add_argument("--language", default="en", help="of the texts, such as en or de (default: en)")
        parser.add_argument(
            "--consent", type=Path, metavar="FILE", help="the text people agree to, in Markdown"
        )
        parser.add_argument(
            "--close-at",
            default="",
            metavar="TIME",
            help="2026-12-24, 2026-12-24T18:00, or 48h, 14d from now",
        )
        parser.add_argument(
            "--column", action="append", default=[], metavar="ROLE=COLUMN", help="such as question=Q"
        )
        parser.add_argument("--encoding", default="", help="of the file; without it, it is guessed and said")
        parser.add_argument(
            "--sheet", default="", help="of a workbook; default: the first that has questions"
        )
        add_header_row(parser)
        parser.add_argument(
            "--public-url", default=settings.PUBLIC_URL, metavar="URL", help="where people reach it"
        )
        parser.add_argument("--port", type=int, default=settings.PORT, help=f"default: {settings.PORT}")
        parser.add_argument(
            "--data", metavar="DIR", help=f"where everything is kept (default: {settings.DATA_DIR})"
        )
        parser.add_argument("--as", dest="user", metavar="USER", help="whose study it is, of an account here")
        parser.add_argument("--no-open", action="store_true", help="do not open the browser")
        parser.add_argument(
            "--json",
            action="store_true",
            help="print one line {link, sign_in, project, stage, read_as}, then serve",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Read, make, open, serve; Ctrl-C ends it with status 0 and keeps everything."""
        from rich.console import Console  # as everywhere: no start waits for it

        self._console = Console(stderr=options["json"], highlight=False)
        # What it does is printed; its own account and roles are no news.
        logging.getLogger("distillery.security").setLevel(logging.WARNING)
        signal.signal(signal.SIGTERM, _interrupt)
        try:
            with contextlib.suppress(KeyboardInterrupt):
                self._run(options)
        except (FileRefusedError, ImportRefusedError, ActionError) as error:
            raise CommandError(str(error)) from error
        except StudyError as error:
            raise CommandError("\n".join(str(problem) for problem in error.problems)) from error
        except (OSError, DatabaseError) as error:
            if sentence := why_full(error):
                raise CommandError(sentence) from error
            raise

    def read(self, options: dict[str, Any]) -> tuple[StudyTable, list[str]]:
        """The table, and sentences about passages from elsewhere."""
        raise NotImplementedError

    def choices(self, options: dict[str, Any], **columns: str) -> Choices:
        """How the person says that the file is read."""
        return Choices(
            columns | pairs("--column", options["column"], "ROLE=COLUMN"),
            system=options.get("system", ""),
            systems_from=options.get("systems_from", ()),
            encoding=options["encoding"],
            sheet=options["sheet"],
            header_row=options["header_row"],
        )

    def _run(self, options: dict[str, Any]) -> None:
        if options["people"] is not None and not 0 < options["people"] <= _MOST_PEOPLE:
            raise CommandError(f"{self.people_option} is from 1 to {_MOST_PEOPLE:,}.")
        closes_at, consent = _time_in(options["close_at"]), _text_of(options["consent"])
        if options.get("pairs"):
            if options["preset"] not in (None, "pairs"):
                raise CommandError(
                    f"--pairs and --preset {options['preset']} are two presets. Leave one out."
                )
            options["preset"] = "pairs"
        table, notes = self.read(options)
        preset = self._preset(options["preset"], table)
        plan = StudyPlan(preset, options["title"], options["people"], consent, closes_at, options["language"])
        site = _site(options["public_url"], options["port"])
        with contextlib.ExitStack() as opened:
            opened.enter_context(_serving_alone(options["port"]))
            with one_at_a_time():  # the server loads its modules meanwhile, and waits
                port, defaults = options["port"], _server_settings(site, options["port"])
                server = opened.enter_context(
                    run_server(site, port, stop_seconds=_STOP_SECONDS, defaults=defaults)
                )
                load_schema()
                migrate_waiting()
                settings.TASK_URL = site  # which was not known when the settings were read
                owner = _owner(options["user"])
                slug = name_of_study(options["file"], self.kind)
                study = make_draft(table, plan, slug=slug, owner=owner)
                open_study(study, plan, owner=owner)
                assert study.link is not None
                then = f"/desk/projects/{study.project.slug}/"
                facts = {
                    "link": address_of(study.link),
                    "sign_in": site + (path_of_link(owner, then) or f"{settings.LOGIN_URL}?next={then}"),
                    "project": study.project.slug,
                    "stage": study.stage.slug,
                    "read_as": table.read_as,
                }
                connections.close_all()
            wait_until_healthy(options["port"], server)
            self._say_reading(table, notes, study)
            self._console.print()
            for line in self._summary(table, plan, study):
                self._console.print(line, markup=False, soft_wrap=True)
            if options["json"]:
                self.stdout.write(json.dumps(facts))
                self.stdout.flush()
            else:
                self._say_links(facts, site)
                if not options["no_open"]:
                    with contextlib.suppress(webbrowser.Error):
                        webbrowser.open(str(facts["sign_in"]))
            self._show_progress(study, server, quiet=options["json"])

    def _preset(self, name: str | None, table: StudyTable) -> Preset:
        preset = presets_of(self.kind)[name] if name else fitting_preset(self.kind, table.roles)
        if missing := sorted(preset.needs - table.roles):
            raise FileRefusedError(
                f"{table.name}: no column holds {' and '.join(missing)}. "
                f"{' '.join(reading_lines(table.read_as)[:2])} Name it: --column {missing[0]}=COLUMN."
            )
        return preset

    def _say_reading(self, table: StudyTable, notes: Sequence[str], study: MadeStudy) -> None:
        """How the file was read, and which of its rows were left out."""
        for line in [*reading_lines(table.read_as), *table.notes, *notes]:
            self._console.print(line, markup=False)
        refusals = [*map(str, table.refused), *study.refusals]
        for line in refusals[:_MOST_REFUSALS]:
            self._console.print(line, style="yellow", markup=False)
        if len(refusals) > _MOST_REFUSALS:
            more = f"… and {len(refusals) - _MOST_REFUSALS:,} more rows that were left out."
            self._console.print(more, style="yellow")

    def _say_links(self, facts: Mapping[str, Any], site: str) -> None:
        """The link for people, with a QR code on a terminal, and the researcher's own."""
        say = partial(self._console.print, markup=False, soft_wrap=True)
        say("\nGive this link to people:")
        say(f"  {facts['link']}", style="bold")
        if self._console.is_terminal:
            segno.make(str(facts["link"]), error="l").terminal(compact=True)
        if is_loopback(urlsplit(site).hostname or ""):
            say(
                "It works on this machine alone. For others: give the machine an address (a proxy, or "
                "`ssh -R` to a server), and start again with --public-url https://ADDRESS.",
                style="yellow",
            )
        once = "works once, for an hour; the same command prints another"
        say(f"Sign in to the desk ({once if '/once/' in facts['sign_in'] else 'with your second factor'}):")
        say(f"  {facts['sign_in']}")
        say("\nCtrl-C stops the server and keeps everything; the same command goes on.")
        say(f"Results: distillery results {facts['project']} --out results")

    def _summary(self, table: StudyTable, plan: StudyPlan, study: MadeStudy) -> Iterator[str]:
        """What the study is, what it takes, what is new in it, and what is not known of it."""
        assert study.link is not None
        people, progress = study.stage.redundancy, progress_of(study.stage, study.link)
        units = self.units(table, study)
        questions = counted(len(table.questions), "question")
        preset = f"{plan.preset.title} (preset {plan.preset.name})"
        yield f"{preset if study.is_new else study.stage.title}."
        if self.kind == "judging":
            answers_text = f"{counted(len(table.answers), 'answer')} of {quote_names(table.systems)}"
            pairs = f": {counted(units, 'pair')}" if study.stage.config.get("unit") == "pair" else ""
            yield f"{answers_text} to {questions}{pairs}, {people:,} {_people(people)} each."
        else:
            yield f"{questions}, {counted(people, 'answer')} each."
        minutes = units * plan.preset.minutes
        each, together = (counted(max(1, round(number)), "minute") for number in (minutes, minutes * people))
        yield (
            f"At least {people:,} {_people(people)}; about {each} for one person who does all, {together} "
            "for all together."
        )
        yield from self._left_out(table, study)
        if not study.is_new:
            new = f"{counted(study.questions, 'question')}, {counted(study.answers, 'answer')}"
            yield f"This file's study goes on, with its title, preset and language. New in the file: {new}."
            if study.gone:
                yield f"Answers that the file does not have any more: {study.gone:,}. They stay in the study."
        if progress.count:
            yield f"There already: {progress.sentence}."
        if unknown := self._unknown(table, plan, study):
            yield f"Not known: {'; '.join(unknown)}."

    def _left_out(self, table: StudyTable, study: MadeStudy) -> Iterator[str]:
        """What the file has and people are neither asked about nor shown."""
        if study.copies:
            yield f"Answers that are the same as a reference: {study.copies:,}; people judge them, too."
        if empty := sum(not answer.text for answer in table.answers):
            yield f"Empty answers: {empty:,}. No one is asked about them, and means are without them."
        bare = sum(not question.passages for question in table.questions.values())
        if bare and self.kind != "judging":
            yield f"Questions without passages: {bare:,}. No one is asked about them."
        for role, is_shown in _shown_roles(study).items():
            if role in table.roles and not is_shown:
                yield (
                    f"The file has {role} now. The study began without, so people do not see them; a copy of "
                    "the file under another name begins one that shows them."
                )

    def _unknown(self, table: StudyTable, plan: StudyPlan, study: MadeStudy) -> list[str]:
        """Parts that people do not see, and the end, as long as they were not given."""
        assert study.link is not None
        own_consent = ConsentText.objects.filter(project=study.project, made_by__isnull=False).exists()
        missing = {f"{role} (none are shown)": not is_shown for role, is_shown in _shown_roles(study).items()}
        missing["your consent text (a general one is shown; --consent FILE)"] = not own_consent
        missing["when it ends (it stays open; --close-at TIME)"] = study.link.expires_at is None
        return [open_point for open_point, is_missing in missing.items() if is_missing]

    def units(self, table: StudyTable, study: MadeStudy) -> int:
        """How many units people work on."""
        if study.stage.kind == "questionnaire":
            return asked_units(study.stage).count()
        return len(table.answers) if self.kind == "judging" else len(table.questions)

    def _show_progress(self, study: MadeStudy, server: "Popen[bytes]", *, quiet: bool) -> None:
        """Say what comes in, until Ctrl-C or the end of the server."""
        from rich.live import Live  # as above

        assert study.link is not None
        before: StudyProgress | None = None
        live = (
            Live(console=self._console, auto_refresh=False)
            if self._console.is_terminal and not quiet
            else contextlib.nullcontext()
        )
        with live as screen:
            while server.poll() is None:
                now = progress_of(study.stage, study.link)
                connections.close_all()
                if now != before and not quiet:
                    line = f"{timezone.localtime():%H:%M:%S}  {self.contribution}: {now.sentence}"
                    if screen is None:
                        self._console.print(line, markup=False)
                    else:
                        screen.update(line, refresh=True)
                before = now
                with contextlib.suppress(TimeoutExpired):
                    server.wait(_LOOK_SECONDS)
        log_text = (settings.DATA_DIR / LOG).read_text(encoding="utf-8", errors="replace")
        raise CommandError(f"The server ended. Its last words:\n{log_text[-2000:]}")


def _shown_roles(study: MadeStudy) -> dict[str, bool]:
    """Which of the parts that a study can do without its judges see."""
    config = study.stage.config
    if study.stage.kind != "judging":
        return {}
    return {"references": config["reference"] != "none", "passages": bool(config["passages"])}


def _people(number: int) -> str:
    return "person" if number == 1 else "people"


def _interrupt(_number: int, _frame: Any) -> None:
    raise KeyboardInterrupt


def why_full(error: BaseException) -> str:
    """A sentence where a disk or a quota is full; nothing for any other error."""
    full = isinstance(error, OSError) and error.errno in _FULL
    if not full and "disk is full" not in str(error).lower():
        return ""
    return (
        f"There is no room left on the disk of {settings.DATA_DIR}. Make some, or name a folder elsewhere: "
        "--data DIR. What was stored is kept, and the same command goes on."
    )


@contextlib.contextmanager
def _serving_alone(port: int) -> Iterator[None]:
    """Hold the data folder for as long as its studies are served here. CommandError where it is held."""
    if not 0 < port < _PORTS:
        raise CommandError(f"Port {port} cannot be used: ports are from 1 to {_PORTS - 1}.")
    file = settings.DATA_DIR / SERVED_ON
    if not file.exists():  # nothing is made where the port is taken
        _refuse_taken_port(port)
    settings.DATA_DIR.mkdir(parents=True, exist_ok=True)
    with file.open("a+", encoding="ascii") as lock:
        if not locks.lock(lock, locks.LOCK_EX | locks.LOCK_NB):
            lock.seek(0)
            raise CommandError(
                f"The studies in {settings.DATA_DIR} are served already, on port {lock.read().strip()}: one "
                "server serves all of a folder. Stop it with Ctrl-C in its window, then start this one, to "
                "serve both studies. Or keep this one apart: --data DIR --port N."
            )
        _refuse_taken_port(port)
        lock.truncate(0)
        lock.write(f"{port}\n")
        lock.flush()
        yield


def _refuse_taken_port(port: int) -> None:
    try:
        with socket.create_server(("127.0.0.1", port)):
            pass
    except OSError as error:
        why = f"Port {port} cannot be used ({error.strerror}). Choose another one: --port N."
        raise CommandError(why) from error


def _site(public_url: str, port: int) -> str:
    """The address at which people reach the server, without a path. CommandError."""
    if not public_url:
        return f"http://127.0.0.1:{port}"
    match = _ADDRESS.fullmatch(public_url)
    if not match or not 0 < int(match["port"] or 1) < _PORTS:
        raise CommandError(f"--public-url {public_url}: write it as https://HOST or http://HOST:PORT.")
    return public_url.rstrip("/").lower()


def _server_settings(site: str, port: int) -> dict[str, str]:
    """Settings of the server that the address asks for: one process is enough for a class."""
    parts = urlsplit(site)
    host = parts.hostname or ""
    if is_loopback(host):
        return {"WEB_WORKERS": "1"}
    is_ipv6 = ":" in host
    hosts = ",".join(dict.fromkeys([*settings.ALLOWED_HOSTS, f"[{host}]" if is_ipv6 else host]))
    # Where the address is this very port, no proxy is before it.
    direct = parts.scheme == "http" and parts.port == port
    every_address = "::" if is_ipv6 else "0.0.0.0"  # noqa: S104  # asked for
    bind = {"WEB_BIND": every_address} if direct else {}
    return {"WEB_WORKERS": "1", "ALLOWED_HOSTS": hosts, **bind}


def _owner(name: str | None) -> User:
    """Who owns the study: the account that is named, or the one of the person at the terminal.

    That one has no password, and signs in by links. CommandError where a person's own account has its name.
    """
    if name is not None:
        return cast(User, user_named(name))
    user, is_new = User.objects.get_or_create(
        username=RESEARCHER, defaults={"is_staff": True, "is_superuser": True}
    )
    if is_new:
        user.set_unusable_password()
        user.save(update_fields=["password"])
        put_off_factor(user)
    elif not user.is_superuser or user.has_usable_password():
        raise CommandError(
            f"The account {RESEARCHER!r} here is a person's own. Say whose study it is: --as USER."
        )
    return user


def _time_in(text: str) -> datetime | None:
    """A time, the end of a day, or so much later than now; None for none. CommandError."""
    if not text:
        return None
    try:
        if later := _DURATION.fullmatch(text.strip()):
            moment = timezone.now() + timedelta(**{_UNITS[later[2]]: int(later[1])})
        elif day := parse_date(text):
            moment = datetime.combine(day, time(23, 59, 59)).astimezone()
        else:
            moment = datetime.fromisoformat(text).astimezone()
    except (ValueError, OverflowError) as error:
        raise CommandError(f"--close-at {text}: write 2026-12-24, 2026-12-24T18:00, 48h or 14d.") from error
    if moment <= timezone.now():
        raise CommandError(f"--close-at {text}: that is over.")
    return moment


def _text_of(path: Path | None) -> str:
    if path is None:
        return ""
    try:
        text = path.read_text(encoding="utf-8-sig").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"--consent {path} cannot be read: {error}.") from error
    if not text:
        raise CommandError(f"--consent {path} is empty.")
    return text
