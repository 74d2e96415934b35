"""A crowd at work: everybody's steps, in the order of their time, on a few threads, until nothing is left.

Either the run makes rounds of the endpoint itself, or it is a job, and the installation's own rounds
publish, collect and pay.
"""

import heapq
import itertools
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from django.db import connections
from django.db.models import Max
from django.utils import timezone

from core.jobs.errors import PermanentError
from core.jobs.handlers import JobContext, handler
from crowd.adapters import registry
from crowd.adapters.base import MarketplaceDownError, MarketplaceRefusedError
from crowd.errors import CrowdError
from crowd.kinds import Profile
from crowd.models import Assignment, Hit, HitUnit, MarketOperation, PanelStudy, Stage
from crowd.services.deals import SIMULATE
from crowd.services.endpoints import request_round
from crowd.services.publication import quote
from crowd.services.tick import tick
from crowd.simulation.accounts import Account, Browser, LostError, SimulationError, accounts, mark_simulated
from crowd.simulation.answers import SimulatedPerson, crowd_of
from crowd.simulation.panel import open_link_to, rehearse_link
from crowd.simulation.people import GoneHome, Person, RetryDelays, WorkPace
from crowd.sources import hits_of, stages_at
from people.models import StudyLink

_BETWEEN_ROUNDS_S = 1.0
_LOOK_AGAIN_S = 0.05
_SPREAD_NEWS_S = 2.0
#: How long to wait for HITs that are planned while nobody has anything to do.
_LONGEST_LULL_S = 60.0
_MOST_TROUBLES = 20
#: What can become of a HIT that somebody accepted.
OUTCOMES = ("submitted", "refused", "returned", "abandoned", "late", "elsewhere")
#: Rounds of publishing, collecting and paying until nothing is left to do, at most.
_MOST_ROUNDS = 40


def make_rounds() -> None:
    """Make rounds until nothing is left to do, with a fresh look at panels, which are asked now and then."""
    PanelStudy.objects.filter(state=PanelStudy.State.OPEN).update(hinted_at=timezone.now())
    for _ in range(_MOST_ROUNDS):
        if tick().idle:
            return


@dataclass(slots=True)
class Summary:
    """What a crowd did. `troubles` has the first words of what should not have happened."""

    people: int = 0
    profiles: dict[str, int] = field(default_factory=dict)
    outcomes: Counter[str] = field(default_factory=Counter)
    submitted_by: Counter[str] = field(default_factory=Counter)
    went_home: Counter[str] = field(default_factory=Counter)
    troubles: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def per_second(self) -> float:
        """Assignments submitted per second."""
        return self.outcomes["submitted"] / self.seconds if self.seconds else 0.0

    def facts(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "people": self.people,
            "profiles": self.profiles,
            **{outcome: self.outcomes[outcome] for outcome in OUTCOMES},
            "submitted_by": dict(sorted(self.submitted_by.items())),
            "went_home": dict(self.went_home),
            "troubles": self.troubles,
            "seconds": round(self.seconds, 2),
            "assignments_per_second": round(self.per_second, 2),
        }


class Marketplace:
    """Where people are: the stage's groups of HITs, and a place to count what happens."""

    def __init__(self, stage: Stage, site: str, summary: Summary) -> None:
        self.stage, self.site, self.browser = stage, site, Browser()
        self.more_to_come, self.lacks_hits, self.news = True, False, 0
        self._summary, self._lock = summary, threading.Lock()
        self._keys: set[str] = set()
        self._groups: dict[tuple[int, int | None], str] = {}

    def groups(self) -> list[str]:
        """Groups of HITs at the marketplace that are the stage's."""
        return list(dict.fromkeys(self._groups.values()))

    def is_ours(self, frame_url: str) -> bool:
        """Whether a task page is the stage's, and not another one's in the same group."""
        key = _key_in(frame_url)
        if key not in self._keys:
            self.look()
        return key in self._keys

    def units_behind(self, page_url: str) -> dict[str, str]:
        """Units by their places, which are all that a page shows of them."""
        units = HitUnit.objects.filter(hit__key=_key_in(page_url)).values_list("position", "unit")
        return {str(position): unit for position, unit in units}

    def count(self, what: str, who: SimulatedPerson) -> None:
        """Note what became of a HIT."""
        with self._lock:
            self._summary.outcomes[what] += 1
            if what == "submitted":
                self._summary.submitted_by[who.profile.name] += 1
            elif what in ("returned", "refused"):  # a place is free again, for somebody else
                self.news += 1

    def trouble(self, text: str) -> None:
        """Keep the first words of what should not have happened."""
        with self._lock:
            if len(self._summary.troubles) < _MOST_TROUBLES:
                self._summary.troubles.append(text[:400])

    def gone_home(self, why: str) -> None:
        """Note why somebody went before the work was done."""
        with self._lock:
            self._summary.went_home[why] += 1

    def look(self, *, check_unplanned: bool = False) -> None:
        """See what is on offer by now; the requester, who knows their HITs, tells everybody the groups.

        With `check_unplanned` it also notes whether the stage lacks HITs that no round has planned yet.
        """
        # Lacking, planned, published: in this order a HIT that moves on meanwhile is seen at least once.
        if check_unplanned:
            self.lacks_hits = self._lacks_hits()
        more_to_come = (
            MarketOperation.objects.filter(
                stage=self.stage,
                endpoint=self.stage.endpoint_id,
                kind=MarketOperation.Kind.PUBLISH,
                needs_person=False,
            )
            .exclude(state__in=MarketOperation.FINAL)
            .exists()
        )
        hits = Hit.objects.filter(hits_of(self.stage))
        keys = {str(key) for key in hits.values_list("key", flat=True).iterator()}
        published = hits.exclude(external_id="").values("wave", "part").annotate(newest=Max("pk"))
        unknown = [row["newest"] for row in published if (row["wave"], row["part"]) not in self._groups]
        for hit in Hit.objects.filter(pk__in=unknown).order_by("pk"):
            more_to_come |= not self._learn_group(hit)
        with self._lock:
            self.news += len(keys) > len(self._keys)
            self._keys = keys
        before, self.more_to_come = self.more_to_come, more_to_come
        if before:
            with self._lock:
                self.news += 1

    def _lacks_hits(self) -> bool:
        """Whether the next round will publish more: what was decided or rejected just now is asked then."""
        stage = Stage.objects.select_related("project", "endpoint").get(pk=self.stage.pk)
        if stage.status != Stage.Status.OPEN:
            return False
        missing = quote(stage)
        return missing.hits > 0 and missing.affordable

    def _learn_group(self, hit: Hit) -> bool:
        """Ask for the group of a HIT; False where the marketplace did not answer."""
        try:
            listing = registry.adapter(self.stage.endpoint).get_listing(hit.external_id)
        except MarketplaceDownError:
            return False
        except MarketplaceRefusedError:
            return True
        if listing is not None:
            self._groups[hit.wave, hit.part] = str(listing.raw["HITGroupId"])
        return True


def _key_in(frame_url: str) -> str:
    return urlsplit(frame_url).path.rstrip("/").rpartition("/")[2]


def site_of(stage: Stage) -> str:
    """Origin of the marketplace that a stage's endpoint belongs to."""
    parts = urlsplit(marketplace_source(stage).endpoint.url)
    return f"{parts.scheme}://{parts.netloc}"


def marketplace_source(stage: Stage) -> Stage:
    """The stage as the people of its first source meet it who accept HITs at a marketplace."""
    source_stages = (
        source_stage for source_stage in stages_at(stage) if not source_stage.endpoint.deals_work
    )
    return next(source_stages, stage)


class Crowd:
    """People with accounts, at work on a stage.

    With `fast` nobody's thinking takes real time, but its order in time stays: who is quick does more.
    `ticking` runs the rounds that publish, collect and pay; without, another process must. Without `drafts`
    no page saves what is half done, as where scripts are off. With `hits_each` everybody goes home after so
    many HITs, and a stage may stay half done.
    """

    def __init__(
        self,
        stage: Stage,
        profiles: Sequence[Profile],
        accounts: Sequence[Account],
        *,
        seed: int,
        site: str = "",
        threads: int = 8,
        fast: bool = False,
        ticking: bool = True,
        drafts: bool = True,
        hits_each: int | None = None,
    ) -> None:
        stage = marketplace_source(stage)
        if stage.endpoint.real_money:
            raise SimulationError(
                f"{stage.endpoint.label} pays real money; simulated workers work for play money only."
            )
        self.summary = Summary(
            people=len(profiles), profiles=dict(sorted(Counter(p.name for p in profiles).items()))
        )
        self.place = Marketplace(stage, site or site_of(stage), self.summary)
        self._stage, self._threads, self._fast, self._ticking = stage, threads, fast, ticking
        self._people = [
            Person(SimulatedPerson(number, profile, seed), account, self.place, drafts=drafts, most=hits_each)
            for number, (profile, account) in enumerate(zip(profiles, accounts, strict=True))
        ]
        self._accounts = accounts
        self._line = _Line(fast)
        self._round: Future[Any] | None = None
        self._next_round_at = self._next_news_at = 0.0
        self._round_began_idle = self._has_looked_while_idle = False
        self._busy_at = time.monotonic()

    @property
    def at_work(self) -> int:
        """People who have something to do now."""
        return len(self._line)

    def run(self, *, progress: Callable[["Crowd"], None] = lambda _: None, settle_s: float = 60.0) -> Summary:
        """Work until nothing is left that anybody here could do; then wait until it is collected.

        `progress` is called a few times a second.
        """
        mark_simulated(self._stage.endpoint, [account.worker_id for account in self._accounts])
        started = time.monotonic()
        try:
            with _pool(self._threads, "people") as people, _pool(1, "rounds") as rounds:
                self._work(people, rounds, progress)
                self.summary.seconds = time.monotonic() - started
                self._end_round()
            if self._ticking:
                self._settle(settle_s, progress)
        finally:
            self.summary.seconds = self.summary.seconds or time.monotonic() - started
        return self.summary

    def _work(
        self, people: ThreadPoolExecutor, rounds: ThreadPoolExecutor, progress: Callable[["Crowd"], None]
    ) -> None:
        self._one_round()
        for person in self._people:
            self._line.put(person.life(), WorkPace(person.who.chance("comes").expovariate(1 / 60)))
        busy: dict[Future[WorkPace | RetryDelays | None], _Turn] = {}
        while True:
            self._keep_rounds_going(rounds, idle=not busy and not self._line)
            while len(busy) < self._threads and (turn := self._line.take()):
                busy[people.submit(self._step, turn)] = turn
            if not self._go_on(bool(busy)):
                return
            done, _ = wait(busy, timeout=_LOOK_AGAIN_S, return_when=FIRST_COMPLETED)
            if not busy:
                time.sleep(_LOOK_AGAIN_S)
            for future in done:
                turn = busy.pop(future)
                self._after(turn, future)
            progress(self)

    def _step(self, turn: "_Turn") -> WorkPace | RetryDelays | None:
        turn.news = self.place.news
        try:
            pause: WorkPace | RetryDelays | None = next(turn.life)
            return pause
        finally:
            connections.close_all()

    def _after(self, turn: "_Turn", future: "Future[WorkPace | RetryDelays | None]") -> None:
        try:
            pause = future.result()
        except StopIteration:
            return
        except GoneHome as why:
            self.place.gone_home(str(why))
        except LostError as error:
            self.place.trouble(f"Nobody answered: {error}")
            self.place.gone_home("no answer came")
        except Exception as error:  # the border of one simulated life: the others go on
            turn.life.close()
            self.place.trouble(f"{type(error).__name__}: {error}")
            self.place.gone_home("an error of the simulation")
        else:
            self._line.put_again(turn, pause)

    def _go_on(self, busy: bool) -> bool:
        """Spread the news among those who rest; False where nobody has anything to do or to wait for."""
        now, idle = time.monotonic(), not busy and not self._line
        if not idle:
            self._busy_at, self._round_began_idle, self._has_looked_while_idle = now, False, False
        if idle or now >= self._next_news_at:
            self._next_news_at = now + _SPREAD_NEWS_S
            if self._line.wake(self.place.news):
                return True
        if not idle:
            return True
        if not self._line.resting or now - self._busy_at >= _LONGEST_LULL_S:
            return False
        return not self._has_looked_while_idle or self.place.more_to_come or self.place.lacks_hits

    # Rounds

    def _keep_rounds_going(self, rounds: ThreadPoolExecutor, *, idle: bool) -> None:
        """Begin a round when it is due, and at once when everyone becomes idle.

        Only a round that began after that can tell that no work is left: one already under way may have
        published HITs that it has not looked at yet, or may have looked before something was decided.
        """
        if self._round is not None and self._round.done():
            self._end_round()
            self._has_looked_while_idle |= self._round_began_idle
        due = time.monotonic() >= self._next_round_at or (idle and not self._has_looked_while_idle)
        if self._round is None and due:
            self._round_began_idle = idle
            self._round = rounds.submit(self._one_round, check_unplanned=idle)

    def _end_round(self) -> None:
        if self._round is not None:
            self._round.result()
            self._round, self._next_round_at = None, time.monotonic() + _BETWEEN_ROUNDS_S

    def _one_round(self, *, check_unplanned: bool = False) -> bool:
        """Publish, collect, pay, and look what is on offer; True where something was done."""
        try:
            idle = tick().idle if self._ticking else True
            self.place.look(check_unplanned=check_unplanned)
            return not idle
        finally:
            connections.close_all()

    def _settle(self, seconds: float, progress: Callable[["Crowd"], None]) -> None:
        """Rounds until all that was submitted is collected, paid and booked."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            busy = self._one_round()
            progress(self)
            waiting = Assignment.objects.filter(stage=self._stage, state=Assignment.State.STORED).exists()
            unfinished = (
                MarketOperation.objects.filter(stage=self._stage, needs_person=False)
                .exclude(state__in=MarketOperation.FINAL)
                .exists()
            )
            if not busy and not waiting and not unfinished:
                return
            if not busy:
                time.sleep(_BETWEEN_ROUNDS_S / 2)


@dataclass(slots=True)
class _Turn:
    """Somebody whose turn comes, at their own time; `news` is what they had heard when they last looked."""

    life: Any
    number: int
    at: float = 0.0
    news: int = 0


class _Line:
    """Who is next. Thinking waits by the clock of the run, which waits for no person in a fast one."""

    def __init__(self, fast: bool) -> None:
        self._fast = fast
        self._thinking: list[tuple[float, int, _Turn]] = []
        self._waiting: list[tuple[float, int, _Turn]] = []
        self._numbers, self._now = itertools.count(), 0.0
        self.resting: list[_Turn] = []

    def __len__(self) -> int:
        return len(self._thinking) + len(self._waiting)

    def put(self, life: Any, pause: WorkPace) -> None:
        """Somebody comes."""
        turn = _Turn(life, next(self._numbers), at=0.0 if self._fast else time.monotonic())
        self._queue(turn, pause)

    def put_again(self, turn: _Turn, pause: WorkPace | RetryDelays | None) -> None:
        """Somebody has made a step."""
        if pause is None:
            self.resting.append(turn)
        else:
            self._queue(turn, pause)

    def _queue(self, turn: _Turn, pause: WorkPace | RetryDelays) -> None:
        if self._fast and isinstance(pause, WorkPace):
            turn.at += pause.seconds
            heapq.heappush(self._thinking, (turn.at, turn.number, turn))
        else:
            at = time.monotonic() + pause.seconds
            heapq.heappush(self._waiting, (at, turn.number, turn))

    def take(self) -> _Turn | None:
        """Whose turn it is, if anybody's."""
        if self._waiting and self._waiting[0][0] <= time.monotonic():
            return heapq.heappop(self._waiting)[2]
        if self._thinking:
            turn = heapq.heappop(self._thinking)[2]
            self._now = max(self._now, turn.at)
            return turn
        return None

    def wake(self, news: int) -> bool:
        """Let those look again who rest since before the news; True where there were any."""
        curious = [turn for turn in self.resting if turn.news < news]
        self.resting = [turn for turn in self.resting if turn.news >= news]
        for turn in curious:
            turn.at = max(turn.at, self._now)
            self._queue(turn, WorkPace(1.0))
        return bool(curious)


@contextmanager
def _pool(threads: int, name: str) -> Iterator[ThreadPoolExecutor]:
    """Threads that are not waited for where the run is broken off."""
    pool = ThreadPoolExecutor(threads, thread_name_prefix=name)
    try:
        yield pool
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


_THREADS = 4


@handler(SIMULATE, longest=timedelta(hours=2))
def simulate(context: JobContext) -> None:
    """Let the crowd work until nothing is left for it; what it did is the job's result."""
    payload = context.payload
    stage = Stage.objects.select_related("project", "endpoint").get(pk=payload["stage"])
    count, seed = payload["workers"], payload["seed"]
    profiles = crowd_of(payload["mix"], count, seed=seed)
    try:
        if "link" in payload or marketplace_source(stage).endpoint.deals_work:
            facts = _rehearse(stage, payload, profiles, context)
            context.commit(lambda: facts)
            return
        people = accounts(site_of(stage), count)
        crowd = Crowd(
            stage,
            profiles,
            people,
            seed=seed,
            threads=_THREADS,
            fast=True,
            ticking=False,
        )
        summary = crowd.run(
            progress=lambda now: context.progress(now.summary.outcomes["submitted"], 0, "Working")
        )
    except CrowdError as error:
        raise PermanentError(str(error)) from error
    except LostError as error:
        raise PermanentError(f"{site_of(stage)} does not answer as a marketplace: {error}") from error
    if not summary.outcomes["submitted"] and (why := _why_nothing(stage, summary)):
        raise PermanentError(f"No simulated worker submitted anything. {why}")
    context.commit(summary.facts)
    request_round(stage.endpoint_id)


def _rehearse(
    stage: Stage, payload: Mapping[str, Any], profiles: Sequence[Profile], context: JobContext
) -> dict[str, int]:
    """People come by the link that is named, or by the newest one that leads to the stage."""
    named = StudyLink.objects.select_related("project").filter(pk=payload.get("link", 0)).first()
    link = named or open_link_to(stage)
    if link is None:
        raise SimulationError(f"No open study link leads to {stage.title}. Make one, or open it again.")
    return rehearse_link(
        link,
        stage,
        profiles,
        seed=payload["seed"],
        progress=lambda people: context.progress(people, len(profiles), "Working"),
    )


def _why_nothing(stage: Stage, summary: Summary) -> str:
    """Why no work came of a run; nothing where there was none to do."""
    if summary.troubles:
        return summary.troubles[0]
    if summary.went_home:
        return f"They went home: {', '.join(summary.went_home)}"
    ends = [f"{count} {outcome}" for outcome, count in summary.outcomes.items() if count]
    if ends:
        return f"Of the HITs that they accepted: {', '.join(ends)}."
    if not Hit.objects.filter(hits_of(stage)).exclude(external_id="").exists():
        return (
            f"No HIT of the stage is published at {site_of(stage)} yet. Look at the endpoint, then try again."
        )
    return ""
