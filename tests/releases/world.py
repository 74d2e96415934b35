"""A small project that went through all stages, written straight into the database.

Eight queries about capitals: two of one conversation (`q1`, `q2`), two that share a passage (`q3`, `q4`), a
yes-no query (`q5`), and three that never got far (`q6` excluded, `q7` taken out, `q8` waiting). Four editors
answered each and reviewers approved it; one answer of `q1` is held out, one was excluded, one belongs to
rejected work. Two systems and the people were judged by five judges, of whom `AJ5` failed the attention
check. Everything that a release names (keys, pseudonyms, slugs, ids) is fixed, so that one world gives the
same release wherever it is made.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from annotation.models import (
    Answer,
    CandidatePassage,
    CuratedPassage,
    CuratedSet,
    HeldOutWorker,
    PassageSelection,
    Query,
    QuerySource,
    QueryStep,
    ScreeningVote,
)
from core.projects.models import Project
from core.projects.services import create_project
from crowd.models import Assignment, Endpoint, Hit, LedgerEntry, MarketOperation, Stage, Worker
from judgments.models import (
    AttentionCheck,
    Candidate,
    CheckAnswer,
    FilterRun,
    ImportedScore,
    Judgment,
    System,
)
from judgments.services import filter_runs

#: When all of it happened.
THEN = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
#: A formula, a line break, separators that only some take for one, signs right to left, and a quotation.
HOSTILE = '=HYPERLINK("x")\nnext\r\nline\u2028sep\u2029 \u202eevil\' <b>&amp;{{7*7}}\U0001f600'
KEY = "ab" * 32
EDITORS, JUDGES = ("AE1", "AE2", "AE3", "AE4"), ("AJ1", "AJ2", "AJ3", "AJ4", "AJ5")
ANSWERED = ("q1", "q2", "q3", "q4", "q5")
TEXTS = {
    "q1": "what is the capital of france",
    "q2": "how many people live there",
    "q3": "capital of italy",
    "q4": "is rome old",
    "q5": "is bern the capital of switzerland",
    "q6": "pizza near me",
    "q7": "who am i",
    "q8": "capital of chad",
}


@dataclass
class Count:
    """Numbers one after another; a copy goes on where it was made, which one of `itertools.count` may not."""

    following: int = 0

    def __next__(self) -> int:
        self.following += 1
        return self.following - 1


@dataclass
class World:
    """The rows by the names that tests use for them."""

    project: Project
    stages: dict[str, Stage] = field(default_factory=dict)
    queries: dict[str, Query] = field(default_factory=dict)
    passages: dict[str, CandidatePassage] = field(default_factory=dict)
    answers: dict[str, Answer] = field(default_factory=dict)
    systems: dict[str, System] = field(default_factory=dict)
    candidates: dict[str, Candidate] = field(default_factory=dict)
    judgments: dict[str, Judgment] = field(default_factory=dict)
    workers: dict[str, Worker] = field(default_factory=dict)
    run: FilterRun | None = None
    ids: Count = field(default_factory=lambda: Count(700_001))
    number: Count = field(default_factory=Count)


def make_world(
    slug: str = "capitals",
    *,
    first: int = 700_001,
    filtered: bool = True,
    simulated: bool = False,
    hostile: bool = False,
) -> World:
    """The whole project. Two worlds in one test need two slugs and two first ids."""
    world = World(_project(slug), ids=Count(first))
    endpoint = Endpoint.objects.create(
        name=f"market-of-{slug}", label="A marketplace", url="https://market.example.org/mturk/api",
        real_money=False, created_at=THEN,
    )  # fmt: skip
    for kind in ("screening", "curation", "distillation", "judging"):
        world.stages[kind] = make_stage(world, kind, endpoint)
    for name in (*EDITORS, *JUDGES):
        world.workers[name] = Worker.objects.create(
            endpoint=endpoint, external_id=name, simulated=simulated, first_seen_at=THEN
        )
    _ask(world)
    _screen(world)
    _curate(world)
    _answer(world, HOSTILE if hostile else "")
    _systems(world, HOSTILE if hostile else "")
    _judge(world)
    _pay(world)
    if filtered:
        world.run = filter_runs.apply(
            stage=world.stages["judging"], recipe="adem-2017", parameters={}, actor=None, seed=3
        )
    return world


def _project(slug: str) -> Project:
    project = create_project(
        slug=slug, title="Capitals", budget_cents=1_000_000, language="en", licence="CC-BY-4.0"
    )
    project.pseudonym_key = KEY
    project.save()
    return project


def make_stage(world: World, kind: str, endpoint: Endpoint, slug: str = "") -> Stage:
    """A paused stage of this kind; its name is its kind unless another is given."""
    endpoint.spenders.get_or_create(project=world.project, defaults={"created_at": THEN})
    return Stage.objects.create(
        project=world.project, slug=slug or kind, title=kind.title(), kind=kind, endpoint=endpoint, config={},
        status=Stage.Status.PAUSED, task_title=kind, task_description=kind, reward_cents=10, redundancy=4,
        budget_cents=50_000, created_at=THEN,
    )  # fmt: skip


def _ask(world: World) -> None:
    source = QuerySource.objects.create(
        project=world.project, name="log.tsv", format="tsv", sha256="c" * 64, state="ready", created_at=THEN,
        report={
            "records": 14, "refused": 1, "duplicates": 2,
            "rules": {"email": {"words": "e-mail", "dropped": 1, "examples": []}},
        },
    )  # fmt: skip
    context = [{"text": "tell me about france", "answer": "A country."}]
    fields: dict[str, dict[str, Any]] = {
        "q1": {"conversation": "c1", "turn": 2, "context": context, "type": "LOCATION"},
        "q2": {"conversation": "c1", "turn": 3, "type": "NUMERIC"},
        "q3": {"type": "LOCATION", "weight": 2.5, "stratum": "head"},
        "q4": {"yes_no": True},
        "q5": {"yes_no": True, "references": ["Yes, in fact."]},
        "q6": {"status": "excluded", "status_reason": "geo-local"},
        "q7": {"status": "withdrawn", "status_reason": "asks about a person"},
        "q8": {"status": "waiting"},
    }
    for number, (key, text) in enumerate(TEXTS.items()):
        given = {"status": Query.Status.ANSWERED, **fields[key]}
        world.queries[key] = Query.objects.create(
            project=world.project, source=source, key=key, text=text, digest=f"{number:064x}", **given
        )


def make_work(world: World, kind: str, worker: str, **fields: Any) -> Assignment:
    """Approved work of somebody at a HIT of its own, half a minute long."""
    number, stage = next(world.number), world.stages[kind]
    hit = Hit.objects.create(
        stage=stage, ordinal=number, places=1, reward_cents=10, fee_cents=2,
        external_id=f"3HIT{stage.pk}X{number}", state=Hit.State.CLOSED,
    )  # fmt: skip
    given = {
        "state": Assignment.State.APPROVED,
        "arrived_at": THEN,
        "stored_at": THEN + timedelta(seconds=40),
        "submitted_at": THEN + timedelta(seconds=40),
        "telemetry": {"active_ms": 30_000},
        **fields,
    }
    return Assignment.objects.create(
        stage=stage, hit=hit, worker=world.workers[worker], external_id=f"3W{stage.pk}X{number}", **given
    )


def _screen(world: World) -> None:
    stage = world.stages["screening"]
    for key in (*ANSWERED, "q6"):
        query = world.queries[key]
        for editor in EDITORS[:3]:
            ScreeningVote.objects.create(
                stage=stage, assignment=make_work(world, "screening", editor), query=query, unambiguous=True,
                answerable=key != "q6", intent="informational", sensitive=False, adult=False,
                excluded_kind="directions" if key == "q6" else "",
            )  # fmt: skip
        after = Query.Status.EXCLUDED if key == "q6" else Query.Status.ACCEPTED
        QueryStep.objects.create(
            query=query, at=THEN, stage=stage, before="waiting", after=after, reason="majority"
        )


def _curate(world: World) -> None:
    stage = world.stages["curation"]
    texts = {
        "q1": ("Paris is the capital of France.", "Lyon is a city."),
        "q2": ("Two million people live in Paris.",),
        "q3": ("Rome is the capital of Italy and very old.",),
        "q4": ("Rome is the capital of Italy and very old.",),
        "q5": ("Bern is the seat of the Swiss government.",),
    }
    for key, passages in texts.items():
        query = world.queries[key]
        chosen = [
            CandidatePassage.objects.create(
                query=query,
                rank=rank,
                key=f"p{rank}",
                text=text,
                title=f"Page {key}",
                url=f"https://example.org/{key}/{rank}",
            )
            for rank, text in enumerate(passages, 1)
        ]
        PassageSelection.objects.create(
            stage=stage, assignment=make_work(world, "curation", "AE1"), query=query, answerable=True,
            passages=[each.key for each in chosen],
        )  # fmt: skip
        curated = CuratedSet.objects.create(query=query, rule="single", stage=stage, created_at=THEN)
        for position, passage in enumerate(chosen):
            CuratedPassage.objects.create(curated_set=curated, candidate=passage, position=position)
            world.passages[f"{key}/{passage.key}"] = passage
        QueryStep.objects.create(
            query=query, at=THEN, stage=stage, before="accepted", after="curated", reason="single"
        )


def make_answer(world: World, key: str, editor: str, text: str, **fields: Any) -> Answer:
    """An answer of an editor with approved work behind it; its name is `q1/AE1`."""
    work = fields.pop("work", None) or make_work(world, "distillation", editor)
    answer = Answer.objects.create(
        pk=next(world.ids), stage=world.stages["distillation"], assignment=work, worker=world.workers[editor],
        query=world.queries[key], text=text, created_at=THEN, **{"state": Answer.State.APPROVED, **fields},
    )  # fmt: skip
    world.answers[f"{key}/{editor}"] = answer
    return answer


def _answer(world: World, hostile: str) -> None:
    said = {
        "q1": ("Paris", "It is Paris.", "Paris, the city.", "Paris in France"),
        "q2": ("Two million", "About 2 million", "two million people", "some 2 million"),
        "q3": ("Rome", "It is Rome.", "Roma", "Rome, of course"),
        "q4": ("Yes", "Very old", "Yes, it is", "It is old"),
        "q5": ("Yes", "Yes, de facto", "There is none", "Bern is"),
    }
    for key, texts in said.items():
        for editor, text in zip(EDITORS, texts, strict=True):
            fields: dict[str, Any] = {"state": Answer.State.APPROVED}
            if key in ("q4", "q5"):
                fields["opinion"] = "Depends" if text.startswith("There") else "Yes"
            if key == "q1" and "Paris" in text:
                start = text.index("Paris")
                fields["entities"] = [{"start": start, "end": start + 5, "text": "Paris"}]
            if (key, editor) == ("q3", "AE3"):
                fields["state"] = Answer.State.EXCLUDED
            if (key, editor) == ("q3", "AE4"):
                fields["work"] = make_work(world, "distillation", editor, state=Assignment.State.REJECTED)
            strange = hostile and (key, editor) == ("q2", "AE1")
            make_answer(world, key, editor, hostile if strange else text, **fields)
        QueryStep.objects.create(
            query=world.queries[key], at=THEN, stage=world.stages["distillation"], before="curated",
            after="answered", reason="complete",
        )  # fmt: skip
    HeldOutWorker.objects.create(
        query=world.queries["q1"], worker=world.workers["AE4"], seed=1, created_at=THEN
    )


def make_candidate(world: World, system: str, key: str, text: str, **fields: Any) -> Candidate:
    """A system's answer to a query; its name is `alpha/q1`."""
    if system not in world.systems:
        world.systems[system] = System.objects.create(
            project=world.project, name=system, created_at=THEN,
            kind=System.Kind.HUMAN if system == System.PEOPLE else System.Kind.PROGRAM,
        )  # fmt: skip
    candidate = Candidate.objects.create(
        pk=next(world.ids), query=world.queries[key], system=world.systems[system], text=text,
        created_at=THEN, **fields,
    )  # fmt: skip
    world.candidates[f"{system}/{key}"] = candidate
    return candidate


def _systems(world: World, hostile: str) -> None:
    for key in ANSWERED:
        aside = {"aside": Candidate.UnjudgedReason.EXACT} if key == "q3" else {}
        make_candidate(world, "alpha", key, "Rome" if key == "q3" else f"alpha about {key}", **aside)
        make_candidate(world, "beta", key, hostile if hostile and key == "q1" else f"beta about {key}")
    held = world.answers["q1/AE4"]
    make_candidate(world, System.PEOPLE, "q1", held.text, answer=held)


def make_judgment(world: World, candidate: str, judge: str, score: int, **fields: Any) -> Judgment:
    """A judge's score with approved work behind it; its name is `alpha/q1/AJ1`."""
    work = fields.pop("work", None) or make_work(world, "judging", judge)
    judgment = Judgment.objects.create(
        pk=next(world.ids), stage=work.stage, assignment=work, worker=world.workers[judge],
        candidate=world.candidates[candidate], score=score, at=THEN, **fields,
    )  # fmt: skip
    world.judgments[f"{candidate}/{judge}"] = judgment
    return judgment


def _judge(world: World) -> None:
    check = AttentionCheck.objects.create(
        stage=world.stages["judging"], key="foreign-0", source=AttentionCheck.Source.FOREIGN,
        query=world.queries["q1"], text="An answer to something else", accepted=[1, 2],
    )  # fmt: skip
    for judge in JUDGES:
        CheckAnswer.objects.create(
            check_item=check, assignment=make_work(world, "judging", judge), worker=world.workers[judge],
            score=5 if judge == "AJ5" else 1, passed=judge != "AJ5", at=THEN,
        )  # fmt: skip
    scores: dict[str, Sequence[int]] = {
        "alpha": (5, 4, 5, 4, 1),
        "beta": (2, 1, 2, 3, 5),
        "human": (5,) * 4 + (1,),
    }
    for name in world.candidates:
        system, key = name.split("/")
        if (system, key) == ("alpha", "q3"):
            continue
        for judge, score in zip(JUDGES, scores[system], strict=True):
            aspects = {"aspects": {"topicality": 3}} if judge == "AJ1" else {}
            make_judgment(world, name, judge, score, **aspects)
    work = make_work(world, "judging", "AE1", state=Assignment.State.REJECTED)
    make_judgment(world, "beta/q1", "AE1", 1, work=work)


def _pay(world: World) -> None:
    """A reward for every approved assignment, and one bonus of a dollar."""
    for stage in world.stages.values():
        LedgerEntry.objects.bulk_create(
            LedgerEntry(
                stage=stage, assignment=work, kind=LedgerEntry.Kind.SPEND, cents=10, fee_cents=2,
                reason="reward", at=THEN,
            )
            for work in Assignment.objects.filter(stage=stage, state=Assignment.State.APPROVED)
        )  # fmt: skip
    stage = world.stages["distillation"]
    bonus = MarketOperation.objects.create(
        endpoint=stage.endpoint, endpoint_url=stage.endpoint.url, stage=stage, kind="bonus",
        target=f"3W {world.project.slug}", purpose="thanks", amount_cents=100, fee_cents=20,
        state="confirmed", planned_at=THEN, not_before=THEN,
    )  # fmt: skip
    LedgerEntry.objects.create(
        stage=stage,
        operation=bonus,
        kind=LedgerEntry.Kind.SPEND,
        cents=100,
        fee_cents=20,
        reason="bonus",
        at=THEN,
    )


def import_score(world: World, candidate: str, mean: float, **fields: Any) -> ImportedScore:
    """A score from elsewhere about a candidate."""
    return ImportedScore.objects.create(candidate=world.candidates[candidate], mean=mean, **fields)
