"""The privacy check: rules that find what may tell who a person is, and what a person decides about it.

A rule errs towards finding: a person looks at each finding, and what leaves stays outside for ever. But
years, prices, ISBNs, dates and version numbers are no telephone numbers; a check that cries wolf is clicked
away. Digits of other scripts and full-width forms are read as the ASCII ones that they stand for.
"""

import re
import sys
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

from django.db import DEFAULT_DB_ALIAS, transaction
from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet
from django.utils import timezone

from annotation.models import Answer
from annotation.selectors.answers import GIVEN
from core.progress import Progress
from core.projects.models import Project
from core.projects.services import record
from crowd.models import Assignment, Stage, Worker
from judgments.models import Candidate, Judgment, UnitResponse
from judgments.selectors.candidates import OUT, imported
from releases.errors import ReleaseError
from releases.models import PrivacyFinding
from releases.options import OPTIONAL
from releases.questionnaires import response_texts
from releases.scope import LAST_COMMENT, LAST_RESPONSE, comments_of, last_checked, released

#: Seven digits, never more than three other characters apart: fewer are nobody's number.
_SOME = re.compile(r"\d(?:\D{0,3}\d){6}")
_CANDIDATE = re.compile(
    r"(?<![\w.=#+\-])(?<!\d[,:/])(?:\+ ?|\(\+?)?\d[\d().\-/\u2010-\u2015 ]{4,26}\d(?![\w])(?![.,:]\d)"
)
_GROUPS = re.compile(r"\d+")
#: Assigned country codes (ITU-T E.164, Annex) of one digit and of two; the others have three.
_CODES = frozenset(
    [
        "1",
        "7",
        "20",
        "27",
        "30",
        "31",
        "32",
        "33",
        "34",
        "36",
        "39",
        "40",
        "41",
        "43",
        "44",
        "45",
        "46",
        "47",
        "48",
        "49",
        "51",
        "52",
        "53",
        "54",
        "55",
        "56",
        "57",
        "58",
        "60",
        "61",
        "62",
        "63",
        "64",
        "65",
        "66",
        "81",
        "82",
        "84",
        "86",
        "90",
        "91",
        "92",
        "93",
        "94",
        "95",
        "98",
    ]
)
_THREE = frozenset(
    {
        *("21", "22", "23", "24", "25", "26", "29", "35", "37", "38", "42", "50"),
        *("59", "67", "68", "69", "80", "85", "87", "88", "96", "97", "99"),
    }
)
_DATE = re.compile(
    r"(?<!\d)(?:\d{1,2}[-./ ]\d{1,2}[-./ ](?:1\d|20)\d\d|(?:1\d|20)\d\d[-./ ]\d{1,2}[-./ ]\d{1,2})(?!\d)"
)
_YEARS = re.compile(r"(?:1\d|20)\d\d(?:\D{1,3}(?:(?:1\d|20)\d\d|\d\d))*")
_MONEY = re.compile(r"[$€£¥₹]\s?$|\b(?:USD|EUR|GBP|CNY|INR|Rs\.?)\s?$")
_NUMBERED = re.compile(
    r"\b(?:isbn(?:-1[03])?|issn|doi|pmid|rfc|iso|version|ver|build|section|page|pp|lot|serial|model|sku|ean|upc"
    r"|isrc|patent|case|bible|verse)\b[\W_]{0,4}$",
    re.IGNORECASE,
)
_UNIT = re.compile(
    r"\s?(?:%|[€£¥]|(?:USD|EUR|GBP|dollars|euros|pounds|people|inhabitants|years|km|m|kg|bytes|miles|times|BCE?|AD)"
    r"\b)",
    re.IGNORECASE,
)
_CUE = re.compile(
    r"(?:(?<!\w)(?:tel|tele?phone|tel[ée]fono|t[ée]l[ée]phone|telefone?|handy|phone|call|dial|cell|mobile|fax|whatsapp"
    r"|sms|text|ring|hotline|ph)"
    r"(?:\W{1,3}(?:me|us|him|her|them|at|on|is|no|nr|num|number|numbers|now|line))*"
    r"|电话|電話|手机|手機|致电|热线|هاتف|جوال|اتصل|тел|телефон)[^\w+(]{0,4}$",
    re.IGNORECASE,
)
#: Characters before a number in which a word about telephones counts.
_BEFORE = 40
_LEAST, _MOST = 7, 15


def phones(text: str) -> Iterator[tuple[int, int]]:
    """Spans of telephone numbers in a text whose digits are ASCII."""
    if not _SOME.search(text):
        return
    for match in _CANDIDATE.finditer(text):
        start = match.start() + (match[0].startswith("(") and ")" not in match[0])
        end = match.end() + (text[match.end() : match.end() + 1] == ")" and match[0].count("(") > 1)
        if _is_one(text[start:end], text[max(0, start - _BEFORE) : start], text[end : end + 14]):
            yield start, end


def _is_one(raw: str, before: str, after: str) -> bool:
    groups = _GROUPS.findall(raw)
    digits = "".join(groups)
    if not _LEAST <= len(digits) <= _MOST + 2 or len(set(digits)) < 2:
        return False
    if raw.lstrip("( ").startswith("+"):
        return _international(digits)
    if _MONEY.search(before) or _NUMBERED.search(before) or _UNIT.match(after):
        return False
    if _DATE.search(raw) or _YEARS.fullmatch(raw):
        return False
    if digits.startswith("00"):
        return _international(digits[2:])
    return (
        _north_american(groups, raw)
        or _trunk(groups, digits)
        or _chinese_mobile(groups, digits)
        or (len(digits) <= _MOST and _CUE.search(before) is not None)
    )


def _international(digits: str) -> bool:
    if digits[:1] == "1":
        return len(digits) == 11 and digits[1] in "23456789"
    has_code = digits[:1] in _CODES or digits[:2] in _CODES or digits[:2] in _THREE
    return has_code and 8 <= len(digits) <= _MOST


def _north_american(groups: list[str], raw: str) -> bool:
    """(212) 555-0100, 212-555-0100, 212.555.0100, 1-800-555-0100."""
    sizes = [len(each) for each in groups]
    if sizes[:1] == [1] and groups[0] == "1":
        groups, sizes = groups[1:], sizes[1:]
    return sizes == [3, 3, 4] and groups[0][0] in "23456789" and groups[1][0] in "23456789" and "/" not in raw


def _trunk(groups: list[str], digits: str) -> bool:
    """030 1234 5678, 01 23 45 67 89, (020) 7946 0958, 06-12345678, 02079460958."""
    if digits[0] != "0" or digits[1] == "0" or not 9 <= len(digits) <= 12:
        return False
    if len(groups) == 1:
        return 10 <= len(digits) <= 11 and not isbn10(digits)
    return len(groups[0]) >= 2 and all(len(each) >= 2 for each in groups)


def _chinese_mobile(groups: list[str], digits: str) -> bool:
    """13812345678, 138 1234 5678; a round number is a quantity."""
    shape = [len(each) for each in groups] in ([11], [3, 4, 4])
    return shape and digits[0] == "1" and digits[1] in "3456789" and not digits.endswith("0000")


def isbn10(digits: str) -> bool:
    """Whether ten digits are an ISBN by its check digit (ISO 2108)."""
    return len(digits) == 10 and sum((10 - place) * int(each) for place, each in enumerate(digits)) % 11 == 0


EMAIL, PHONE, WORKER, PROFILE, GROUP = "email", "phone", "worker-id", "profile", "small-group"
#: In words, as pages and data cards name them.
RULES = {
    EMAIL: "e-mail address",
    PHONE: "telephone number",
    WORKER: "worker id",
    PROFILE: "address of a person's page",
    GROUP: "small group",
}
#: Fewer people than this are a small group: their pseudonyms hide little.
LEAST_PEOPLE = 5
#: A shorter id is also a word or a number of everyday texts: of letters and digits, of letters, of digits.
_LEAST_MIXED, _LEAST_LETTERS, _LEAST_DIGITS = 3, 4, 6

_WORD = re.compile(r"\w+")
_NAME = r"[\w.+%'\-]{1,64}"
_HOST = r"[\w\-]{1,63}(?:\.[\w\-]{1,63}){1,8}"
_EMAIL = re.compile(
    rf"(?<![\w.+%'\-]){_NAME}[ ]?@[ ]?{_HOST}"
    rf"|(?<![\w.+%'\-]){_NAME}\s?[\[({{]\s?(?:at|@)\s?[\])}}]\s?[\w\-]{{1,63}}"
    r"(?:\s?[\[({]\s?(?:dot|\.)\s?[\])}]\s?[\w\-]{1,63}|\.[\w\-]{1,63}){1,8}",
    re.IGNORECASE,
)
_HIDDEN_AT = re.compile(r"[\[({]\s?(?:at|@)\s?[\])}]", re.IGNORECASE)
#: Amazon's worker ids; an id has a digit, a word in capitals has none.
_MTURK = re.compile(r"A(?<![A-Za-z0-9]A)(?=[A-Z]*[0-9])[A-Z0-9]{11,20}(?![A-Za-z0-9])")
_SITES = (
    r"facebook\.com|fb\.com|instagram\.com|twitter\.com|x\.com|tiktok\.com|github\.com|gitlab\.com|linkedin\.com/in"
    r"|linkedin\.com/pub|reddit\.com/u|reddit\.com/user|youtube\.com|medium\.com|t\.me|wa\.me|vk\.com|weibo\.com/u"
    r"|snapchat\.com/add|threads\.net|pinterest\.com|flickr\.com/people|soundcloud\.com|twitch\.tv|xing\.com/profile"
)
_PROFILE = re.compile(
    r"\b[a-z][a-z0-9+.\-]{1,15}://[^\s/@:]{1,64}(?::[^\s/@]{0,64})?@[^\s/]{1,255}"
    rf"|(?<![\w.\-])(?:https?://)?(?:[a-z]{{1,6}}\.)?(?:{_SITES})/@?[\w.\-]{{2,64}}(?![\w.\-]*/)"
    r"|\bhttps?://[^\s/]{1,255}(?:/[^\s/]{1,64}){0,3}/(?:~|@|users?/|profiles?/|people/)[\w.\-]{2,64}",
    re.IGNORECASE,
)
#: What may follow a site's name and is nobody's page.
_PLACES = frozenset(
    [
        "about",
        "explore",
        "hashtag",
        "help",
        "home",
        "i",
        "intent",
        "login",
        "marketplace",
        "news",
        "privacy",
        "search",
        "settings",
        "share",
        "signup",
        "terms",
        "topics",
        "trending",
        "watch",
        "results",
        "playlist",
        "feed",
        "reel",
        "reels",
        "groups",
        "events",
        "pages",
        "sharer.php",
    ]
)
_DIGIT = re.compile("[0-9]")
#: Characters that are read as others: full-width forms, wide spaces, digits that are not ASCII.
_OTHERS = re.compile(r"[\u00a0\u3000\uff01-\uff5e]|[^\D0-9]")


@cache
def _readings() -> dict[int, int]:
    """Each of those characters with the ASCII one that it stands for."""
    signs = {0xFF01 + place: 0x21 + place for place in range(94)} | {0x3000: 0x20, 0xA0: 0x20}
    wide = (each for each in range(0x80, sys.maxunicode + 1) if chr(each).isdecimal())
    return signs | {each: ord(str(unicodedata.decimal(chr(each)))) for each in wide}


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Where a rule found something, in characters of the text."""

    start: int
    end: int
    rule: str


class Finder:
    """The rules, ready to be asked often. `workers` are ids that nobody may read in a release."""

    def __init__(self, workers: Collection[str] = ()) -> None:
        # The first word of an id, in lower case, leads to the ids that begin so: most texts have none.
        # Ids with digits are apart, for a text without digits has none of those.
        self._numbered: dict[str, list[str]] = {}
        self._wordy: dict[str, list[str]] = {}
        for each in sorted(set(workers)):
            id_words = _WORD.findall(each.lower())
            numbered = _DIGIT.search(each) is not None
            least = _LEAST_DIGITS if each.isdigit() else _LEAST_MIXED if numbered else _LEAST_LETTERS
            if id_words and len(each) >= least:
                heads = self._numbered if numbered else self._wordy
                heads.setdefault(id_words[0], []).append(each)

    def find(self, text: str) -> list[Span]:
        """What the rules find, in the order of the text; of those that overlap, the first and longest."""
        plain = text if text.isascii() or not _OTHERS.search(text) else text.translate(_readings())
        spans: list[Span] = []
        if "@" in plain or _HIDDEN_AT.search(plain):
            spans += (Span(*match.span(), EMAIL) for match in _EMAIL.finditer(plain))
        if "/" in plain and "." in plain:
            spans += (Span(*span, PROFILE) for span in _profiles(plain))
        if _DIGIT.search(plain):
            spans += (Span(*match.span(), WORKER) for match in _MTURK.finditer(plain))
            spans += (Span(*span, PHONE) for span in phones(plain))
            if self._numbered:
                spans += (Span(*span, WORKER) for span in _id_spans(plain, self._numbered))
        if self._wordy:
            spans += (Span(*span, WORKER) for span in _id_spans(plain, self._wordy))
        return list(_apart(spans)) if spans else []


def _id_spans(text: str, heads: dict[str, list[str]]) -> Iterator[tuple[int, int]]:
    text_words = _WORD.findall(text.lower())
    if heads.keys().isdisjoint(text_words):
        return
    for head in heads.keys() & set(text_words):
        for each in heads[head]:
            pattern = re.compile(rf"(?<!\w){re.escape(each)}(?!\w)", re.IGNORECASE)
            for match in pattern.finditer(text):
                yield match.span()


def _profiles(text: str) -> Iterator[tuple[int, int]]:
    for match in _PROFILE.finditer(text):
        last = match[0].rstrip(".-").rpartition("/")[2].lstrip("@~").lower()
        if "@" in match[0] or last not in _PLACES:
            yield match.start(), match.start() + len(match[0].rstrip(".-"))


def _apart(spans: list[Span]) -> Iterator[Span]:
    end = 0
    for span in sorted(spans, key=lambda each: (each.start, -each.end)):
        if span.start >= end:
            end = span.end
            yield span


# A finding in a few words around it. Pure.

#: Characters before and after a finding that are shown, and of the finding itself at most.
_AROUND, _SPAN = 60, 160
_MORE = "…"


class Parts(NamedTuple):
    """An excerpt cut at its finding."""

    before: str
    found: str
    after: str


def excerpt(text: str, start: int, end: int) -> str:
    """The span with what is around it, in one line."""
    low, high = max(0, start - _AROUND), min(len(text), min(end, start + _SPAN) + _AROUND)
    cut = "".join(each if each.isprintable() else " " for each in text[low:high])
    return f"{_MORE if low else ''}{cut}{_MORE if high < len(text) else ''}"


def parts(excerpt: str, start: int, end: int) -> Parts:
    """An excerpt of a span, cut where the span is; a finding about no text is all before."""
    if end <= start:
        return Parts(excerpt, "", "")
    first = min(start, _AROUND) + (len(_MORE) if start > _AROUND else 0)
    last = first + min(end - start, _SPAN)
    return Parts(excerpt[:first], excerpt[first:last], excerpt[last:])


# What a person decides about findings of the privacy check: they may stay, or they are blacked out.
#
# A decision changes rows only from the states that it is for, in one statement, so that two people who decide
# at once do not undo each other unseen. It can be changed until a release is built; texts never change.

State = PrivacyFinding.State
_LONGEST = 300
#: The reason of blacking out where nobody gave one.
BLACKED_OUT = "Nobody needs to know it."
HAS_TEXT = Q(end__gt=0)


def accept_findings(*, findings: QuerySet[PrivacyFinding], reason: str, actor: Any) -> int:
    """Let findings stay as they are, for a reason that is kept; how many there were."""
    reason = reason.strip()
    if not reason:
        raise ReleaseError("Say why these may stay: the reason is kept with them.")
    undecided = findings.filter(state__in=[State.OPEN, State.REDACTED])
    return _decide(undecided, State.ACCEPTED, "privacy.accepted", reason, actor)


def redact_findings(*, findings: QuerySet[PrivacyFinding], reason: str = "", actor: Any) -> int:
    """Black findings out in every release to come; how many there were. A small group has nothing to hide."""
    undecided = findings.filter(HAS_TEXT, state__in=[State.OPEN, State.ACCEPTED])
    return _decide(undecided, State.REDACTED, "privacy.redacted", reason.strip() or BLACKED_OUT, actor)


def reopen_findings(*, findings: QuerySet[PrivacyFinding], actor: Any) -> int:
    """Take decisions back; how many there were."""
    decided = findings.filter(state__in=[State.ACCEPTED, State.REDACTED])
    return _decide(decided, State.OPEN, "privacy.reopened", "", actor)


@transaction.atomic
def _decide(findings: QuerySet[PrivacyFinding], state: str, action: str, reason: str, actor: Any) -> int:
    if len(reason) > _LONGEST:
        raise ReleaseError(f"A reason has at most {_LONGEST} characters; this one has {len(reason)}.")
    open_again = state == State.OPEN
    counts: dict[tuple[int, str], int] = {}
    for project, rule in findings.order_by().values_list("project", "rule").distinct():
        counts[project, rule] = findings.filter(project=project, rule=rule).update(
            state=state,
            reason=reason,
            decided_by=None if open_again else actor,
            decided_at=None if open_again else timezone.now(),
        )
    for row in Project.objects.filter(pk__in={pk for pk, _ in counts}):
        rules = {rule: number for (pk, rule), number in counts.items() if pk == row.pk and number}
        if rules:
            details = {"rules": rules} | ({"why": reason} if reason else {})
            record(project=row, action=action, subject=row.slug, actor=actor, details=details)
    return sum(counts.values())


#: Texts of one batch.
AT_ONCE = 5_000


class Text(NamedTuple):
    """One text with its name."""

    subject: str
    field: str
    text: str


def text_batches(project: Project) -> Iterator[list[Text]]:
    """All texts, some thousands at a time: queries, answers of people and of systems, comments, responses."""
    responses = (Text(*each) for each in response_texts(project))
    for rows in (_queries(project), _answers(project), _candidates(project), _comments(project), responses):
        batch: list[Text] = []
        for each in rows:
            batch.append(each)
            if len(batch) >= AT_ONCE:
                yield batch
                batch = []
        if batch:
            yield batch


def count_texts(project: Project) -> int:
    """About how many there are, for progress: a query counts once."""
    return (
        released(project, DEFAULT_DB_ALIAS, OPTIONAL).count()
        + Answer.objects.filter(GIVEN, query__project=project).count()
        + Candidate.objects.filter(system__project=project).count()
        + comments_of(project, DEFAULT_DB_ALIAS).count()
    )


def _queries(project: Project) -> Iterator[Text]:
    rows = (
        released(project, DEFAULT_DB_ALIAS, OPTIONAL)
        .order_by("pk")
        .values_list("pk", "text", "context", "references")
    )
    for pk, text, context, references in rows.iterator(AT_ONCE):
        subject = f"query:{pk}"
        yield Text(subject, "text", text)
        for place, turn in enumerate(_read_list(context)):
            if isinstance(turn, dict):
                for name in ("text", "answer"):
                    if isinstance(turn.get(name), str):
                        yield Text(subject, f"context.{place}.{name}", turn[name])
        for place, each in enumerate(imported(references)):
            yield Text(subject, f"references.{place}", each)


def _read_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _answers(project: Project) -> Iterator[Text]:
    rows = Answer.objects.filter(GIVEN, query__project=project).exclude(query__status__in=OUT)
    for pk, text in rows.order_by("pk").values_list("pk", "text").iterator(AT_ONCE):
        yield Text(f"answer:{pk}", "text", text)


def _candidates(project: Project) -> Iterator[Text]:
    rows = Candidate.objects.filter(system__project=project).exclude(query__status__in=OUT)
    for pk, text in rows.order_by("pk").values_list("pk", "text").iterator(AT_ONCE):
        yield Text(f"candidate:{pk}", "text", text)


def _comments(project: Project) -> Iterator[Text]:
    rows = comments_of(project, DEFAULT_DB_ALIAS).order_by("pk").values_list("pk", "comment")
    for pk, comment in rows.iterator(AT_ONCE):
        yield Text(f"judgment:{pk}", "text", comment)


def refuse_unread_comments(project: Project, using: str) -> None:
    """ReleaseError while there are comments of judges that no privacy check has read."""
    last_comment = last_checked(project, using, LAST_COMMENT)
    if comments_of(project, using).filter(pk__gt=last_comment).exists():
        raise ReleaseError(
            "There are comments of judges that the privacy check has not read. Check again, on the release "
            f"pages or with `manage.py release check {project.slug}`, or leave the comments out."
        )


#: What makes a finding the one that was found before.
_Key = tuple[str, str, str, int, int]
_NOT_DECIDED: dict[str, Any] = {"reason": "", "decided_by": None, "decided_at": None}
#: Findings that one statement asks for or changes.
_FEW = 500


@dataclass(frozen=True, slots=True)
class PrivacyCounts:
    """How many texts were read, and the project's findings by rule and state after it."""

    texts: int
    counts: dict[str, dict[str, int]] = field(default_factory=dict)

    def of(self, state: str) -> int:
        """Findings in a state, of all rules."""
        return sum(states.get(state, 0) for states in self.counts.values())

    @property
    def open(self) -> int:
        """Findings that wait for a person."""
        return self.of(State.OPEN)


def check_project(*, project: Project, actor: Any = None, progress: Progress | None = None) -> PrivacyCounts:
    """Read every text that a release would hold. What is no longer found is gone; decisions stay.

    A finding is open again where its text has changed, or where it comes back. Memory does not grow with the
    texts. What is found is stored as it is found, so that a check that was killed has done no harm.
    """
    now = timezone.now()
    finder = Finder(_ids(project))
    total, done = count_texts(project), 0
    newest = {
        LAST_COMMENT: comments_of(project, DEFAULT_DB_ALIAS).aggregate(last=Max("pk"))["last"],
        LAST_RESPONSE: UnitResponse.objects.filter(stage__project=project).aggregate(last=Max("pk"))["last"],
    }
    for batch in text_batches(project):
        findings = [
            PrivacyFinding(
                project=project,
                rule=span.rule,
                subject=subject,
                field=name,
                start=span.start,
                end=span.end,
                excerpt=excerpt(text, span.start, span.end),
                found_at=now,
            )
            for subject, name, text in batch
            for span in finder.find(text)
        ]
        for start in range(0, len(findings), _FEW):
            _keep(project, findings[start : start + _FEW], now)
        done += len(batch)
        if progress:
            progress(min(done, total), total, "Looking at texts")
    _keep(project, list(_small_groups(project, now)), now)
    vanished = PrivacyFinding.objects.filter(project=project, found_at__lt=now).exclude(state=State.GONE)
    with transaction.atomic():
        vanished.update(state=State.GONE)
        checked = PrivacyCounts(done, count_findings(project))
        record(
            project=project,
            action="privacy.checked",
            subject=project.slug,
            actor=actor,
            details={"texts": done, "open": checked.open}
            | {name: last for name, last in newest.items() if last is not None},
        )
    return checked


def count_findings(project: Project) -> dict[str, dict[str, int]]:
    """Findings of a project by rule and state."""
    rows = PrivacyFinding.objects.filter(project=project).order_by("rule", "state")
    counts: dict[str, dict[str, int]] = {}
    for rule, state, number in rows.values_list("rule", "state").annotate(Count("pk")):
        counts.setdefault(rule, {})[state] = number
    return counts


def _keep(project: Project, findings: list[PrivacyFinding], now: datetime) -> None:
    """Store new findings, and say of known ones that they are still there."""
    if not findings:
        return
    subjects = {each.subject for each in findings}
    with transaction.atomic():
        stored = {
            _key(each): each for each in PrivacyFinding.objects.filter(project=project, subject__in=subjects)
        }
        same, new = [], []
        for each in findings:
            before = stored.get(_key(each))
            if before is None:
                new.append(each)
            elif before.state == State.GONE or before.excerpt != each.excerpt:
                PrivacyFinding.objects.filter(pk=before.pk).update(
                    state=State.OPEN, excerpt=each.excerpt, found_at=now, **_NOT_DECIDED
                )
            else:
                same.append(before.pk)
        PrivacyFinding.objects.bulk_create(new, ignore_conflicts=True)
        PrivacyFinding.objects.filter(pk__in=same).update(found_at=now)


def _key(finding: PrivacyFinding) -> _Key:
    return finding.rule, finding.subject, finding.field, finding.start, finding.end


def _ids(project: Project) -> set[str]:
    """Ids of everybody who worked in the project."""
    workers = Worker.objects.filter(
        pk__in=Assignment.objects.filter(stage__project=project).order_by().values("worker").distinct()
    )
    return set(workers.values_list("external_id", flat=True).iterator(AT_ONCE))


def _small_groups(project: Project, now: datetime) -> Iterator[PrivacyFinding]:
    """Stages of which a release has answers or ratings of so few real people that they are easily told."""
    for stage, title, people in _people(project):
        if people < LEAST_PEOPLE:
            who = "one person" if people == 1 else f"{people} people"
            yield PrivacyFinding(
                project=project,
                rule=GROUP,
                subject=f"stage:{stage}",
                excerpt=f"All responses of “{title[:150]}” that are from real people are from {who}."
                " Who knows them can tell who is who.",
                found_at=now,
            )


def _people(project: Project) -> Iterable[tuple[int, str, int]]:
    """Stages with answers or ratings of real people, and how many gave them."""
    released = Stage.objects.filter(
        Exists(Answer.objects.filter(stage=OuterRef("pk")))
        | Exists(Judgment.objects.filter(stage=OuterRef("pk"))),
        project=project,
    )
    real = Assignment.objects.filter(
        stage__in=released, state__in=Assignment.GOOD, worker__simulated=False
    ).order_by("stage")
    return real.values_list("stage", "stage__title").annotate(Count("worker", distinct=True))
