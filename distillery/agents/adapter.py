"""What each tool does, by the services that pages and the API call; the only module that knows both sides.

Every call asks again whose token it is, which scopes it has and what its person may do in the project. A tool
gives no worker ids, names or addresses of people; a release has the project's pseudonyms.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated

from django.http import Http404
from pydantic import Field

from core.accounts.security import Actor, acting_as
from core.api.models import Scope
from core.errors import ActionError
from core.files.reading import NAMES, plain_name, reading_lines
from core.files.sheets import open_sheet
from core.files.text_source import TextSource
from core.money import dollars, entered_cents
from core.origin import Via
from core.projects.models import Project
from crowd.access import StageAccess
from crowd.api.access import StagePermission
from crowd.kinds import kind_of
from crowd.models import Stage
from crowd.selectors.known_people import list_cautions
from crowd.selectors.queues import waiting
from crowd.services import stages
from crowd.services.publication import Quote, quote
from crowd.sources import spends_real_money, stages_at
from distillery.agents import descriptions
from distillery.agents.descriptions import Description
from distillery.agents.drafts import make_study_from_file
from judgments.selectors.live import list_late_judgments
from people.links import address_of
from releases.build import release_now, released
from releases.manifest import verify
from releases.models import Release
from releases.options import options_of
from releases.storage import fetched_folder
from web.api.access import ACCOUNT, Caller, Role, admit, check_scopes

#: Of a table: rows, and characters of a cell, that are shown.
_ROWS, _CELL = 5, 120
#: Columns that say who somebody is; their cells are not shown.
_OF_PEOPLE = frozenset({*NAMES["worker"], *NAMES["name"], *NAMES["email"]})


class AgentTools:
    """The tools for one token. Tables are read from `folder` and the folders inside it alone."""

    #: Those that change nothing.
    READING = frozenset({"read_columns", "progress", "waiting_decisions", "results", "release_files"})
    #: All, in the order in which a study needs them.
    TOOLS = (
        "read_columns",
        "make_study",
        "preview",
        "open_stage",
        "progress",
        "waiting_decisions",
        "results",
        "build_release",
        "release_files",
    )

    def __init__(self, token: str, folder: Path) -> None:
        self._token, self._folder = token, folder.resolve()

    # From a table to an open stage

    def read_columns(self, path: str) -> Description:
        """Say how a table (CSV, TSV, JSON lines, .xlsx) is read: columns by what they hold, and first rows.

        Look at this before `make_study`: a column that is left out has a name that nothing knows.
        """
        with self._acting(Scope.COLLECT):
            column_names = {name for names in NAMES.values() for name in names}
            sheet = open_sheet(TextSource(self._find_file(path), name=path), column_names=column_names)
            read_as = sheet.reading(descriptions.columns_by_role(sheet.columns)).as_json()
            hidden = [plain_name(name) in _OF_PEOPLE for name in sheet.columns]
            rows = [
                ["(not shown)" if hide else cell[:_CELL] for hide, cell in zip(hidden, cells, strict=True)]
                for _, cells in islice(sheet.rows(), _ROWS)
            ]
            sentences = reading_lines(read_as)
            return {"read_as": read_as, "in_words": sentences, "columns": sheet.columns, "rows": rows}

    def make_study(
        self,
        path: str,
        title: Annotated[str, Field(min_length=1, max_length=200)],
        preset: str = "kpqa",
        judges: Annotated[int, Field(ge=1, le=100)] = 3,
    ) -> Description:
        """Make a draft of a study in which people judge systems' answers: project, stage and study link.

        The table has a question and an answer in each row, and may have system, reference and passages.
        `preset` is kpqa (an answer, scored from 1 to 5) or adem (a response after the turns of a dialogue);
        `judges` different people judge each answer. Nothing is open, and no one is asked before `open_stage`.
        """
        with self._acting(Scope.COLLECT, Scope.ADMIN, writes=True) as caller:
            study, table = make_study_from_file(
                owner=caller.user, path=self._find_file(path), title=title, preset=preset, judges=judges
            )
            assert study.link is not None
            return {
                "project": study.project.slug,
                "stage": study.stage.slug,
                "status": study.stage.status,
                "link": address_of(study.link),
                "page": descriptions.address_of_page("desk:project", study.project.slug),
                "read_as": table.read_as,
                "notes": table.notes,
                "left_out": [*map(str, table.refused), *study.refusals],
            }

    def preview(self, project: str, stage: str) -> Description:
        """Show what a worker reads of the first unit, what opening costs, and what keeps it from opening.

        Show it to the person whose study it is, and ask them for the amount, before `open_stage`.
        """
        with self._acting(
            Scope.READ, Scope.COLLECT, role=Role.MANAGER, project=project, stage=stage
        ) as caller:
            row = _stage(caller)
            offer, cautions = _ask_quote(row)
            return {
                "status": row.status,
                "title": row.task_title,
                "description": row.task_description,
                **descriptions.describe_first_unit(row),
                "quote": descriptions.describe_quote(row, offer),
                "needs_scope_pay": _is_paid(row, offer),
                "problems": list(stages.opening_problems(row)),
                "cautions": [*cautions, *list_cautions(row)],
            }

    def open_stage(
        self, project: str, stage: str, confirmed_amount: str, confirmed_budget: str = ""
    ) -> Description:
        """Open a draft or paused stage: people can work from now on, and its money is set aside.

        `confirmed_amount` is the total of `preview` as your person confirmed it ("0.00" where nothing is
        paid). Where money is real, `confirmed_budget` is the stage's budget, which replacements may reach.
        """
        with self._acting(Scope.COLLECT, role=Role.MANAGER, project=project, stage=stage) as caller:
            row = _stage(caller)
            offer, _ = _ask_quote(row)
            if _is_paid(row, offer):
                check_scopes(caller, [Scope.PAY])
                _check_place(caller, {"project": project, "stage": stage}, role=Role.MANAGER, spends=True)
            currency = row.endpoint.currency
            if entered_cents(confirmed_amount, currency) != offer.total_cents:
                raise ActionError(
                    f"Opening costs {dollars(offer.total_cents)} {currency}, not {confirmed_amount}. Ask "
                    "your person to confirm it, then send that amount."
                )
            stages.open_stage(
                stage=row,
                actor=caller.user,
                typed_cents=entered_cents(confirmed_budget, currency) if confirmed_budget else None,
                quoted_cents=offer.total_cents,
            )
            return {"status": row.status, "quote": descriptions.describe_quote(row, offer)}

    # While people work

    def progress(self, project: str) -> Description:
        """Count for each stage of a project what is done and missing, and name what is urgent."""
        with self._acting(Scope.READ, project=project) as caller:
            return _by_stage(caller, descriptions.describe_progress)

    def waiting_decisions(self, project: str) -> Description:
        """List what waits for a person, with how many and the page where they decide. No tool decides."""
        with self._acting(Scope.READ, project=project) as caller:
            at = _project(caller)
            queues = [
                descriptions.describe_queue(each, each.queue.first(at)) for each in waiting(at) if each.count
            ]
            return {"project": at.slug, "waiting": [*queues, *descriptions.describe_findings(at)]}

    # What came of it

    def results(self, project: str) -> Description:
        """Give means of systems with 95 % intervals, agreement and counts of each stage.

        A figure that is not defined, or would mislead, is null, with the reason beside it.
        """
        with self._acting(Scope.READ, project=project) as caller:
            return _by_stage(caller, descriptions.describe_results)

    def build_release(
        self, project: str, notes: str = "", include: list[str] | None = None, version: str = ""
    ) -> Description:
        """Build the data set of a project, with data card, checksums and pseudonyms. It is not published.

        It takes what was accepted; `include` brings in groups such as undecided, flagged or unanswered. Where
        a text may tell who somebody is, a person decides about it on the release pages first.
        """
        with self._acting(Scope.PUBLISH, role=Role.MANAGER, project=project) as caller:
            at, options = _project(caller), options_of({"include": include or []})
            cautions = [str(each) for each in list_late_judgments(at)]
            release, built = release_now(at, options=options, version=version, notes=notes, actor=caller.user)
            about = {"same_as_before": built.same is not None, "cautions": cautions}
            return {**about, **descriptions.describe_release(release)}

    def release_files(self, project: str, version: str = "", check: bool = True) -> Description:
        """Say where the files of a release lie (the newest, unless named), and whether they are unchanged."""
        with self._acting(Scope.READ, project=project) as caller:
            at = _project(caller)
            rows = Release.objects.filter(project=at, version=version, state=Release.State.READY)
            release = rows.first() if version else released(at)
            if release is None:
                raise Http404("There is no such release that is ready. Build one with build_release.")
            description = descriptions.describe_release(release)
            if check:
                with fetched_folder(release) as folder:
                    result = verify(folder, release.digest)
                description |= {"unchanged": result.fine, "problems": result.problems}
            names = ("path", "format", "bytes", "rows", "sha256")
            return {**description, "files": list(release.files.order_by("path").values(*names))}

    @contextmanager
    def _acting(self, *scopes: Scope, role: str = "", writes: bool = False, **parts: str) -> Iterator[Caller]:
        """The caller of a tool, who may; what is done inside is theirs. ProblemError or Http404 for others.

        Without a project, any token with these scopes may.
        """
        caller = admit(self._token, address="")
        actor = Actor(user=caller.user, access_key=caller.token.prefix)
        with acting_as(lambda: actor, via=Via.API):
            check_scopes(caller, scopes)
            least = role or (Role.VIEWER if parts else ACCOUNT)
            _check_place(caller, parts, role=least, writes=writes)
            yield caller

    def _find_file(self, path: str) -> Path:
        target = (self._folder / path).resolve()
        if not target.is_relative_to(self._folder):
            raise ActionError(
                f"Files are read below {self._folder} alone. Start the server with another --files."
            )
        return target


def _check_place(
    caller: Caller, parts: Mapping[str, str], *, role: str, writes: bool = False, spends: bool = False
) -> None:
    permission = StagePermission(scopes=(), role=role, writes=writes, spends=spends)
    permission.check_place(SimpleNamespace(path="mcp"), caller, dict(parts))


def _project(caller: Caller) -> Project:
    assert caller.access is not None, "the call names no project"
    return caller.access.project


def _stage(caller: Caller) -> Stage:
    assert isinstance(caller.access, StageAccess), "the call names no stage"
    return caller.access.stage


def _by_stage(caller: Caller, describe: Callable[[Stage], Description]) -> Description:
    at = _project(caller)
    rows = Stage.objects.filter(project=at).select_related("project", "endpoint").order_by("pk")
    return {"project": at.slug, "stages": [describe(row) for row in rows]}


def _ask_quote(stage: Stage) -> tuple[Quote, list[str]]:
    """What opening costs now, and cautions about fees; brings the stage's units up to date."""
    stages.refuse_unknown_names(stage)
    cautions = stages.take_panel_fees(stage)
    kind_of(stage).prepare(stage)
    return quote(stage), cautions


def _is_paid(stage: Stage, offer: Quote) -> bool:
    """Whether opening commits money, now or with units that come later."""
    rewards = any(each.reward_cents for each in stages_at(stage))
    return bool(rewards or offer.total_cents or spends_real_money(stage))
