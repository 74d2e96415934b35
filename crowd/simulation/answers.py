"""What simulated people answer, and how long it takes them: the same for the same seed, person and unit."""

import random
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Protocol, runtime_checkable

from crowd.kinds import kind_of
from crowd.models import Stage
from crowd.simulation.page import Field, Form
from crowd.simulation.profiles import Habit, Profile

_WORDS_PER_SECOND = 4.0
_SECONDS_PER_CHOICE = 2.5
_CHARACTERS_PER_SECOND = 4.5
_STOCK = "This is a good answer"
_LONGEST_WRITTEN = 400
_TICKED = 0.3
_CHANGED_MIND = 0.05
_BESIDE = 0.7


@runtime_checkable
class SimulatedKind(Protocol):
    """What a kind may bring besides its interface: what somebody who understood a unit would answer."""

    def simulate(
        self, stage: Stage, unit: str, profile: Profile, rng: random.Random
    ) -> Mapping[str, str] | None:
        """Fields of a knowing answer, without prefix; None leaves it to chance that all readers share.

        A box to write in whose text is "" stays empty, whoever fills the page in.
        Mistakes, haste and bad habits are added to it by the profile.
        """


@dataclass(frozen=True, slots=True)
class SimulatedPerson:
    """One simulated person: their number in the crowd, their profile, the seed of the run."""

    number: int
    profile: Profile
    seed: int

    @property
    def own_profile(self) -> Profile:
        """The profile with this person's own bias."""
        bias = self.chance("bias").gauss(0.0, self.profile.bias_spread)
        return replace(self.profile, bias=self.profile.bias + bias)

    def chance(self, *about: object) -> random.Random:
        """This person's own chance about something, the same whenever it is asked."""
        return random.Random(":".join(map(str, (self.seed, self.number, *about))))


@dataclass(slots=True)
class Effort:
    """What the page measures while somebody works, and the seconds that it takes."""

    seconds: float = 0.0
    first_key_ms: int = 0
    keystrokes: int = 0
    pastes: int = 0
    pasted_characters: int = 0
    focus_losses: int = 0
    edits: int = 0

    def add(self, more: "Effort") -> None:
        """Go on after this."""
        self.first_key_ms = self.first_key_ms or int(self.seconds * 1000) + more.first_key_ms
        self.seconds += more.seconds
        for name in ("keystrokes", "pastes", "pasted_characters", "focus_losses", "edits"):
            setattr(self, name, getattr(self, name) + getattr(more, name))

    @property
    def telemetry(self) -> dict[str, int]:
        """As the page's script sends it."""
        measured = asdict(self)
        if not self.keystrokes:
            del measured["first_key_ms"]
        return {"active_ms": int(measured.pop("seconds") * 1000), **measured}


@dataclass(frozen=True, slots=True)
class _UnitVisit:
    """Who is asked about which unit, by which page, with their chance about it."""

    stage: Stage
    form: Form
    unit: str
    who: SimulatedPerson
    rng: random.Random


def answer_unit(
    stage: Stage, form: Form, unit: str, who: SimulatedPerson, *, attempt: int = 0
) -> dict[str, str]:
    """Fields of one unit by their full names, as this person fills them in at the n-th attempt.

    Who is shown what is wrong takes more care: half as many mistakes at the second attempt, then none.
    """
    mistakes = who.profile.mistakes * max(0.0, 1.0 - attempt / 2)
    who = replace(who, profile=replace(who.profile, mistakes=mistakes))
    asked = _UnitVisit(stage, form, unit, who, who.chance("answer", unit, attempt))
    kind = kind_of(stage)
    known = (
        kind.simulate(stage, unit, who.own_profile, asked.rng) if isinstance(kind, SimulatedKind) else None
    )
    filled: dict[str, str] = {}
    for found in form.of(unit):
        value = _value(asked, found, known)
        if value is not None:
            filled[found.name] = value
    return filled


def _value(asked: _UnitVisit, found: Field, known: Mapping[str, str] | None) -> str | None:
    meant = known.get(found.short) if known else None
    if found.kind == "text":
        return None if meant == "" else _text(asked, found, meant)
    truth = random.Random(f"truth:{asked.stage.seed}:{asked.unit}|{found.short}")
    if found.kind == "tick":
        meant_ticked = meant is not None if known else truth.random() < _TICKED
        return found.options[0] if _ticks(asked, meant_ticked) else None
    options = found.options or [str(number) for number in range(found.least, found.most + 1)]
    if not options:
        return None
    return _choice(asked, options, meant if meant in options else truth.choice(sorted(options)))


def _choice(asked: _UnitVisit, options: list[str], meant: str) -> str:
    who, rng = asked.who, asked.rng
    match who.profile.habit:
        case Habit.RANDOM:
            return rng.choice(options)
        case Habit.CONSTANT:
            return options[int(who.chance("constant").random() * len(options))]
    if who.profile.habit is Habit.REVERSED:
        meant = options[len(options) - 1 - options.index(meant)]
    return _missed(options, meant, rng) if rng.random() < who.profile.mistakes else meant


def _missed(options: list[str], meant: str, rng: random.Random) -> str:
    """Another option than the one that was meant: mostly one beside it."""
    at = options.index(meant)
    beside = options[max(0, at - 1) : at] + options[at + 1 : at + 2]
    others = [option for option in options if option != meant]
    return rng.choice((beside if rng.random() < _BESIDE else others) or options)


def _ticks(asked: _UnitVisit, meant: bool) -> bool:
    profile = asked.who.profile
    match profile.habit:
        case Habit.RANDOM:
            return asked.rng.random() < 0.5
        case Habit.CONSTANT:
            return True
    missed = asked.rng.random() < profile.mistakes
    return meant != (missed or profile.habit is Habit.REVERSED)


def _text(asked: _UnitVisit, found: Field, meant: str | None) -> str:
    form, rng = asked.form, asked.rng
    words = form.said_of(asked.unit).split() or form.texts.get("", "").split() or _STOCK.split()
    match asked.who.profile.habit:
        case Habit.CONSTANT:
            text = _STOCK
        case Habit.RANDOM:
            text = " ".join(rng.choices(words, k=rng.randint(3, 12)))
        case Habit.PASTES:
            start = rng.randrange(max(1, len(words) - 15))
            text = " ".join(words[start : start + rng.randint(12, 30)])
        case _:
            text = meant or _own_words(words, rng)
    most = min(found.most or _LONGEST_WRITTEN, _LONGEST_WRITTEN)
    while len(text) < found.least:
        text += " " + rng.choice(words)
    return text[: max(most, found.least)].strip()


def _own_words(words: list[str], rng: random.Random) -> str:
    """A sentence made of what was read, with something left out and something of one's own."""
    start = rng.randrange(max(1, len(words) - 20))
    kept = [word for word in words[start : start + rng.randint(8, 24)] if rng.random() < 0.8]
    opening = rng.choice(["I think that", "It says that", "As I read it,", "In short:", ""])
    return f"{opening} {' '.join(kept) or words[0]}".strip()


def effort_of(form: Form, unit: str, filled: Mapping[str, str], who: SimulatedPerson) -> Effort:
    """How long one unit takes this person, and what the page would have measured."""
    rng = who.chance("effort", unit)
    profile = who.profile
    haste = profile.pace * rng.lognormvariate(0.0, profile.spread)
    reading = len(form.said_of(unit).split()) / _WORDS_PER_SECOND * haste
    written = [filled[found.name] for found in form.of(unit) if found.kind == "text" and found.name in filled]
    others = len(filled) - len(written)
    made = Effort(seconds=reading + others * _SECONDS_PER_CHOICE * haste)
    made.edits = sum(rng.random() < _CHANGED_MIND for _ in range(others))
    made.first_key_ms = int(reading * 1000)
    for text in written:
        if profile.habit is Habit.PASTES:
            made.pastes += 1
            made.pasted_characters += len(text)
            made.keystrokes += 2
            made.seconds += 1.0 + 2.0 * haste
            made.focus_losses += 1
        else:
            made.keystrokes += int(len(text) * rng.uniform(1.02, 1.25))
            made.seconds += len(text) / _CHARACTERS_PER_SECOND * max(haste, 0.2)
        made.edits += len(text) // 40
    made.focus_losses += rng.random() < 0.1
    made.seconds = max(made.seconds, 0.3)
    return made
