"""Rules that find in a text what may tell who a person is. Pure: a text in, spans in characters out.

A rule errs towards finding: a person looks at each finding, and what leaves stays outside for ever. But
years, prices, ISBNs, dates and version numbers are no telephone numbers; a check that cries wolf is clicked
away. Digits of other scripts and full-width forms are read as the ASCII ones that they stand for.
"""

import re
import sys
import unicodedata
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache

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
    for found in _CANDIDATE.finditer(text):
        start = found.start() + (found[0].startswith("(") and ")" not in found[0])
        end = found.end() + (text[found.end() : found.end() + 1] == ")" and found[0].count("(") > 1)
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
    known = digits[:1] in _CODES or digits[:2] in _CODES or digits[:2] in _THREE
    return known and 8 <= len(digits) <= _MOST


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
            words = _WORD.findall(each.lower())
            numbered = _DIGIT.search(each) is not None
            least = _LEAST_DIGITS if each.isdigit() else _LEAST_MIXED if numbered else _LEAST_LETTERS
            if words and len(each) >= least:
                heads = self._numbered if numbered else self._wordy
                heads.setdefault(words[0], []).append(each)

    def find(self, text: str) -> list[Span]:
        """What the rules find, in the order of the text; of those that overlap, the first and longest."""
        plain = text if text.isascii() or not _OTHERS.search(text) else text.translate(_readings())
        spans: list[Span] = []
        if "@" in plain or _HIDDEN_AT.search(plain):
            spans += (Span(*found.span(), EMAIL) for found in _EMAIL.finditer(plain))
        if "/" in plain and "." in plain:
            spans += (Span(*span, PROFILE) for span in _profiles(plain))
        if _DIGIT.search(plain):
            spans += (Span(*found.span(), WORKER) for found in _MTURK.finditer(plain))
            spans += (Span(*span, PHONE) for span in phones(plain))
            if self._numbered:
                spans += (Span(*span, WORKER) for span in _ids(plain, self._numbered))
        if self._wordy:
            spans += (Span(*span, WORKER) for span in _ids(plain, self._wordy))
        return list(_apart(spans)) if spans else []


def _ids(text: str, heads: dict[str, list[str]]) -> Iterator[tuple[int, int]]:
    words = _WORD.findall(text.lower())
    if heads.keys().isdisjoint(words):
        return
    for head in heads.keys() & set(words):
        for each in heads[head]:
            whole = re.compile(rf"(?<!\w){re.escape(each)}(?!\w)", re.IGNORECASE)
            for found in whole.finditer(text):
                yield found.span()


def _profiles(text: str) -> Iterator[tuple[int, int]]:
    for found in _PROFILE.finditer(text):
        last = found[0].rstrip(".-").rpartition("/")[2].lstrip("@~").lower()
        if "@" in found[0] or last not in _PLACES:
            yield found.start(), found.start() + len(found[0].rstrip(".-"))


def _apart(spans: list[Span]) -> Iterator[Span]:
    end = 0
    for span in sorted(spans, key=lambda each: (each.start, -each.end)):
        if span.start >= end:
            end = span.end
            yield span
