"""Simulated people and their answers: a task page is read as a person reads it, and filled in by seed and
unit.

Profiles say what kinds of people there are; a crowd is mixed from them.
"""

import random
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from decimal import Decimal
from html.parser import HTMLParser
from urllib.parse import urljoin

from crowd.kinds import Habit, Profile, SimulatedKind, kind_of
from crowd.models import Stage

PROFILES: Mapping[str, Profile] = {
    profile.name: profile
    for profile in (
        Profile("diligent", Habit.KNOWS, pace=1.0, spread=0.35, mistakes=0.05),
        Profile("sloppy", Habit.KNOWS, pace=0.5, spread=0.6, mistakes=0.30),
        Profile("random", Habit.RANDOM, pace=0.15, spread=0.4),
        Profile("constant", Habit.CONSTANT, pace=0.1, spread=0.3),
        Profile("reversed", Habit.REVERSED, pace=0.9, spread=0.4, mistakes=0.05),
        Profile("copy-paster", Habit.PASTES, pace=0.25, spread=0.5, mistakes=0.40),
        Profile("abandoner", Habit.KNOWS, pace=0.8, spread=0.6, mistakes=0.10, leaves=0.5),
        Profile("returner", Habit.KNOWS, pace=0.9, spread=0.5, mistakes=0.10, returns=0.5),
        Profile("duplicate-clicker", Habit.KNOWS, pace=0.8, spread=0.4, mistakes=0.10, clicks_twice=1.0),
    )
}

#: Shares per hundred people. Moderate has 15, heavy 35 who answer without reading or the wrong way round.
MIXES: Mapping[str, Mapping[str, int]] = {
    "clean": {"diligent": 88, "sloppy": 6, "abandoner": 2, "returner": 2, "duplicate-clicker": 2},
    "moderate": {
        "diligent": 62,
        "sloppy": 14,
        "random": 5,
        "constant": 4,
        "reversed": 3,
        "copy-paster": 3,
        "abandoner": 3,
        "returner": 3,
        "duplicate-clicker": 3,
    },
    "heavy": {
        "diligent": 40,
        "sloppy": 16,
        "random": 14,
        "constant": 9,
        "reversed": 6,
        "copy-paster": 6,
        "abandoner": 3,
        "returner": 3,
        "duplicate-clicker": 3,
    },
}


def crowd_of(mix: str, people: int, *, seed: int) -> list[Profile]:
    """Profiles of so many people, in the mix's shares as exactly as whole people allow, in a seeded order.

    The name of a profile is a mix too: everybody is like that. Raises KeyError, naming what there is.
    """
    if mix not in MIXES and mix not in PROFILES:
        raise KeyError(f"There is no mix {mix!r}; there are {', '.join([*MIXES, *PROFILES])}.")
    shares = MIXES.get(mix) or {mix: 100}
    exact = {name: people * share / sum(shares.values()) for name, share in shares.items()}
    counts = {name: int(share) for name, share in exact.items()}
    by_remainder = sorted(exact, key=lambda name: (counts[name] - exact[name], name))
    for name in by_remainder[: people - sum(counts.values())]:
        counts[name] += 1
    crowd = [PROFILES[name] for name in sorted(counts) for _ in range(counts[name])]
    random.Random(f"crowd:{mix}:{seed}").shuffle(crowd)
    return crowd


# Reading a task page as a person does: its units, what they say, and what can be filled in.
#
# Knows HTML forms and nothing of a kind of stage: a kind that asks by radio buttons, lists, boxes to tick or
# to write in can be simulated without a word about it here.

_MOST_NUMBERS = 2_000
_TEXT_TYPES = {"text", "search", "email", "url", "tel", "number", "range", ""}


@dataclass(slots=True)
class Field:
    """Something to fill in: one of `options` (`choice`), a box to tick or not (`tick`), `text`, `number`."""

    name: str
    kind: str
    options: list[str] = field(default_factory=list)
    least: int = 0
    most: int = 0

    @property
    def unit(self) -> str:
        """The unit it belongs to: what is before the last bar of its name."""
        return self.name.rpartition("|")[0]

    @property
    def short(self) -> str:
        """Its name within the unit."""
        return self.name.rpartition("|")[2]


@dataclass(slots=True)
class Form:
    """The page's form. `texts` has what the page says about each unit, "" what it says to all.

    `behind` has the units of names that stand for them in the page.
    """

    action: str = ""
    draft_url: str = ""
    hidden: dict[str, str] = field(default_factory=dict)
    fields: dict[str, Field] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    behind: dict[str, str] = field(default_factory=dict)

    @property
    def units(self) -> list[str]:
        """Units in the order of the page."""
        return list(dict.fromkeys(self._unit_of(form_field) for form_field in self.fields.values()))

    def of(self, unit: str) -> list[Field]:
        """The fields of a unit."""
        return [form_field for form_field in self.fields.values() if self._unit_of(form_field) == unit]

    def said_of(self, unit: str) -> str:
        """What the page says about a unit."""
        names = {of: name for name, of in self.behind.items()}
        return self.texts.get(names.get(unit, unit), "")

    def _unit_of(self, form_field: Field) -> str:
        return self.behind.get(form_field.unit, form_field.unit)


def read_form(html: str, url: str) -> Form | None:
    """The first form of a page that is posted, or None where there is none."""
    reader = _Reader(url)
    reader.feed(html)
    reader.close()
    return reader.form if reader.seen else None


class _Reader(HTMLParser):
    """Collects one form; text goes to the section it is in."""

    def __init__(self, url: str) -> None:
        super().__init__(convert_charrefs=True)
        self.form = Form()
        self.seen = self._inside = False
        self._url = url
        self._said: list[str] = []
        self._said_to_all: list[str] = []
        self._section_depth = 0
        self._section_fields: set[str] = set()
        self._select: Field | None = None
        self._silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        has = {name: value or "" for name, value in attrs}
        if tag in ("script", "style"):
            self._silent += 1
        elif tag == "section":
            self._section_depth += 1
        elif tag == "form" and has.get("method", "").lower() == "post" and not self.seen:
            self.seen = self._inside = True
            self.form.action = urljoin(self._url, has.get("action", ""))
            if has.get("data-draft"):
                self.form.draft_url = urljoin(self._url, has["data-draft"])
        elif self._inside:
            self._field(tag, has)

    def _field(self, tag: str, has: dict[str, str]) -> None:
        name = has.get("name", "")
        if tag == "option" and self._select is not None:
            if has.get("value") and "disabled" not in has:
                self._select.options.append(has["value"])
        elif not name or "disabled" in has:
            return
        elif tag == "select":
            self._select = self._add(name, "choice", has)
        elif tag == "textarea":
            self._add(name, "text", has)
        elif tag == "input":
            self._input(name, has)

    def _input(self, name: str, has: dict[str, str]) -> None:
        kind = has.get("type", "").lower()
        if kind == "hidden":
            self.form.hidden[name] = has.get("value", "")
        elif kind in ("radio", "checkbox"):
            form_field = self._add(name, "choice" if kind == "radio" else "tick", has)
            form_field.options.append(has.get("value", "on"))
        elif kind in _TEXT_TYPES:
            number = kind in ("number", "range")
            form_field = self._add(name, "number" if number else "text", has)
            if number:
                form_field.least, form_field.most = (
                    _read_integer(has.get("min", ""), 0),
                    _read_integer(has.get("max", ""), 100),
                )
                form_field.options = _in_steps(has)

    def _add(self, name: str, kind: str, has: dict[str, str]) -> Field:
        form_field = self.form.fields.setdefault(name, Field(name, kind))
        form_field.least = _read_integer(has.get("minlength", ""), form_field.least)
        form_field.most = _read_integer(has.get("data-longest") or has.get("maxlength", ""), form_field.most)
        if self._section_depth:
            self._section_fields.add(form_field.unit)
        return form_field

    def handle_endtag(self, tag: str) -> None:
        if tag in ("script", "style"):
            self._silent -= 1
        elif tag == "select":
            self._select = None
        elif tag == "form":
            self._inside = False
        elif tag == "section" and self._section_depth:
            self._section_depth -= 1
            if not self._section_depth:
                self._end_section()

    def _end_section(self) -> None:
        for unit in self._section_fields:
            self.form.texts[unit] = " ".join(" ".join(self._said).split())
        self._said, self._section_fields = [], set()

    def handle_data(self, data: str) -> None:
        if not self._silent:
            (self._said if self._section_depth else self._said_to_all).append(data)

    def close(self) -> None:
        super().close()
        self.form.texts[""] = " ".join(" ".join(self._said_to_all).split())


def _read_integer(text: str, otherwise: int) -> int:
    try:
        return int(float(text))
    except (ValueError, OverflowError):
        return otherwise


def _in_steps(has: dict[str, str]) -> list[str]:
    """All numbers that a field takes, where it names its ends and its step and these are not too many."""
    try:
        least, most, step = (Decimal(has.get(name, "")) for name in ("min", "max", "step"))
        count = int((most - least) / step) + 1
    except (ArithmeticError, ValueError):
        return []
    if step < 0 or not 1 <= count <= _MOST_NUMBERS:
        return []
    return [_plainly(least + number * step) for number in range(count)]


def _plainly(number: Decimal) -> str:
    """As somebody types it: 2, not 2.0."""
    return str(int(number)) if number == int(number) else f"{number.normalize():f}"


_WORDS_PER_SECOND = 4.0
_SECONDS_PER_CHOICE = 2.5
_CHARACTERS_PER_SECOND = 4.5
_STOCK = "This is a good answer"
_LONGEST_WRITTEN = 400
_TICKED = 0.3
_CHANGED_MIND = 0.05
_BESIDE = 0.7


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
    visit = _UnitVisit(stage, form, unit, who, who.chance("answer", unit, attempt))
    kind = kind_of(stage)
    simulated = (
        kind.simulate(stage, unit, who.own_profile, visit.rng) if isinstance(kind, SimulatedKind) else None
    )
    filled: dict[str, str] = {}
    for form_field in form.of(unit):
        value = _value(visit, form_field, simulated)
        if value is not None:
            filled[form_field.name] = value
    return filled


def _value(visit: _UnitVisit, form_field: Field, simulated: Mapping[str, str] | None) -> str | None:
    meant = simulated.get(form_field.short) if simulated else None
    if form_field.kind == "text":
        return None if meant == "" else _text(visit, form_field, meant)
    truth = random.Random(f"truth:{visit.stage.seed}:{visit.unit}|{form_field.short}")
    if form_field.kind == "tick":
        meant_ticked = meant is not None if simulated else truth.random() < _TICKED
        return form_field.options[0] if _ticks(visit, meant_ticked) else None
    options = form_field.options or [str(number) for number in range(form_field.least, form_field.most + 1)]
    if not options:
        return None
    return _choice(visit, options, meant if meant in options else truth.choice(sorted(options)))


def _choice(visit: _UnitVisit, options: list[str], meant: str) -> str:
    who, rng = visit.who, visit.rng
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


def _ticks(visit: _UnitVisit, meant: bool) -> bool:
    profile = visit.who.profile
    match profile.habit:
        case Habit.RANDOM:
            return visit.rng.random() < 0.5
        case Habit.CONSTANT:
            return True
    missed = visit.rng.random() < profile.mistakes
    return meant != (missed or profile.habit is Habit.REVERSED)


def _text(visit: _UnitVisit, form_field: Field, meant: str | None) -> str:
    form, rng = visit.form, visit.rng
    source_words = form.said_of(visit.unit).split() or form.texts.get("", "").split() or _STOCK.split()
    match visit.who.profile.habit:
        case Habit.CONSTANT:
            text = _STOCK
        case Habit.RANDOM:
            text = " ".join(rng.choices(source_words, k=rng.randint(3, 12)))
        case Habit.PASTES:
            start = rng.randrange(max(1, len(source_words) - 15))
            text = " ".join(source_words[start : start + rng.randint(12, 30)])
        case _:
            text = meant or _own_words(source_words, rng)
    most = min(form_field.most or _LONGEST_WRITTEN, _LONGEST_WRITTEN)
    while len(text) < form_field.least:
        text += " " + rng.choice(source_words)
    return text[: max(most, form_field.least)].strip()


def _own_words(source_words: list[str], rng: random.Random) -> str:
    """A sentence made of what was read, with something left out and something of one's own."""
    start = rng.randrange(max(1, len(source_words) - 20))
    excerpt = [word for word in source_words[start : start + rng.randint(8, 24)] if rng.random() < 0.8]
    opening = rng.choice(["I think that", "It says that", "As I read it,", "In short:", ""])
    return f"{opening} {' '.join(excerpt) or source_words[0]}".strip()


def effort_of(form: Form, unit: str, filled: Mapping[str, str], who: SimulatedPerson) -> Effort:
    """How long one unit takes this person, and what the page would have measured."""
    rng = who.chance("effort", unit)
    profile = who.profile
    haste = profile.pace * rng.lognormvariate(0.0, profile.spread)
    reading = len(form.said_of(unit).split()) / _WORDS_PER_SECOND * haste
    written = [
        filled[form_field.name]
        for form_field in form.of(unit)
        if form_field.kind == "text" and form_field.name in filled
    ]
    others = len(filled) - len(written)
    effort = Effort(seconds=reading + others * _SECONDS_PER_CHOICE * haste)
    effort.edits = sum(rng.random() < _CHANGED_MIND for _ in range(others))
    effort.first_key_ms = int(reading * 1000)
    for text in written:
        if profile.habit is Habit.PASTES:
            effort.pastes += 1
            effort.pasted_characters += len(text)
            effort.keystrokes += 2
            effort.seconds += 1.0 + 2.0 * haste
            effort.focus_losses += 1
        else:
            effort.keystrokes += int(len(text) * rng.uniform(1.02, 1.25))
            effort.seconds += len(text) / _CHARACTERS_PER_SECOND * max(haste, 0.2)
        effort.edits += len(text) // 40
    effort.focus_losses += rng.random() < 0.1
    effort.seconds = max(effort.seconds, 0.3)
    return effort
