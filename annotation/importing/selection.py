"""Which queries of a file are taken: rules that keep some from being seen, and the sample's design.

Privacy comes before completeness: a pattern may drop an innocent query, and the report says how many each
rule dropped, with examples, so that a rule that does harm can be seen and switched off.

How a sample is drawn is in `tally`, which brings numpy.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from annotation.importing.records import TYPES, folded

#: In the order in which they are tried; the first that applies gives its name.
RULES = {
    "email": "e-mail address",
    "card": "payment card number (Luhn)",
    "national-id": "national identity number",
    "phone": "telephone number",
    "url": "address of a page (navigational)",
    "words": "adult or offensive word",
    "short": "too short",
    "long": "too long",
}
SHORTEST, LONGEST = 2, 300
#: What a bound of length can be at most; without a bound, switch the rule off.
LONGEST_EVER = 1_000_000
#: Top-level domains by which a bare domain is known; a dot alone is also in "node.js" and "3.5".
_DOMAINS = (
    "com|org|net|edu|gov|mil|info|biz|io|co|me|tv|app|dev|ai|us|uk|ca|au|de|fr|es|it|nl|be|ch|at|se|no|dk|fi|pl"
    "|cz|pt|br|mx|ar|cl|ru|ua|tr|ir|sa|ae|eg|in|pk|cn|hk|tw|jp|kr|sg|my|id|th|vn|ph|nz|za|ng|ke|eu|xyz|online|site"
)
#: Six digits or more, not too far apart: fewer are no number of anybody.
_SOME_DIGITS = re.compile(r"(?:\d\D{0,3}){6}")
_EMAIL = re.compile(r"[\w.+\-%']+\s?@\s?[\w\-]+(?:\.[\w\-]+)+|[\w.+\-]+@[\w\-]{2,}")
_URL = re.compile(
    r"\w://|\bwww[. ]\s?\w|\bhttps?[:/]"
    rf"|(?<![@\w])[a-z0-9][a-z0-9\-]*(?:\.[a-z0-9\-]+)*\.(?:{_DOMAINS})\b(?![\w.])"
)
_DIGITS = re.compile(r"\d(?:[ \-]?\d){12,18}")
_PHONE = re.compile(
    r"""(?<![\w.])(?:
        \+\ ?\d{1,3}[\ .\-]?(?:\(?\d{1,4}\)?[\ .\-/]?){2,5}\d{2,4}   # +44 20 7946 0958
      | (?:1[\ .\-])?\(?\d{3}\)?[\ .\-]\ ?\d{3}[\ .\-]\d{4}          # (212) 555-0100, 1-800-555-0100
      | [2-9]\d{2}[2-9]\d{6}                                         # 2125550100
      | \d{3}-\d{4}                                                  # 555-0100
      | 1[3-9]\d{9} | 1[3-9]\d[\ \-]\d{4}[\ \-]\d{4}                 # Chinese mobile
      | 00?[1-9]\d{0,3}[\ .\-/]?\d{3,4}[\ .\-/]?\d{3,5}              # 030 1234 5678, 0049…
      | 0[1-9](?:[\ .]\d{2}){4}                                      # 01 23 45 67 89
    )(?![\w])""",
    re.VERBOSE,
)
_SSN = re.compile(r"(?<![\w\-])(?!000|666|9)\d{3}([ \-])(?!00)\d{2}\1(?!0000)\d{4}(?![\w\-])")
_NINO = re.compile(r"\b[a-ceghj-prstw-z][a-ceghj-nprstw-z] ?\d{2} ?\d{2} ?\d{2} ?[a-d]\b")
_CHINA = re.compile(r"(?<!\d)\d{17}[\dx](?![\dx])")
_SPAIN = re.compile(r"\b([xyz]?)(\d{7,8})[ \-]?([a-z])\b")
_EMIRATES = re.compile(r"\b784[ \-]?\d{4}[ \-]?\d{7}[ \-]?\d\b")
_BRAZIL = re.compile(r"\b\d{3}\.\d{3}\.\d{3}-\d{2}\b")
_INDIA = re.compile(r"\b[2-9]\d{3}[ \-]\d{4}[ \-]\d{4}\b(?![ \-]\d)")
_TOKENS = re.compile(r"\w+")
#: Scripts that put no space between words: Thai, Lao, Khmer, Kana, Han.
_NO_SPACES = re.compile("[\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")


def shipped_words() -> Path:
    """The word list that comes with Distillery."""
    return Path(__file__).with_name("words.txt")


def read_words(path: Path) -> list[str]:
    """Terms of a word list: one a line, # begins a comment. OSError and UnicodeDecodeError as they come."""
    lines = path.read_text(encoding="utf-8-sig").splitlines()
    return [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]


class Screen:
    """The rules that are switched on, ready to be asked often."""

    def __init__(
        self,
        *,
        without: Collection[str] = (),
        listed_terms: Iterable[str] | None = None,
        shortest: int = SHORTEST,
        longest: int = LONGEST,
    ) -> None:
        unknown = sorted(set(without) - RULES.keys())
        if unknown:
            raise ValueError(f"There is no rule {unknown[0]!r}; there are: {', '.join(RULES)}.")
        if not 0 <= shortest <= longest <= LONGEST_EVER:
            raise ValueError(f"No query is at least {shortest} and at most {longest} characters long.")
        self.rules = frozenset(RULES.keys() - set(without))
        self.least = shortest if "short" in self.rules else 0
        self.most = longest if "long" in self.rules else 2**62
        terms = read_words(shipped_words()) if listed_terms is None else list(listed_terms)
        self._set_words(terms if "words" in self.rules else [])

    def _set_words(self, terms: Iterable[str]) -> None:
        phrases, inside = [], []
        single = set()
        for term in terms:
            tokens = _TOKENS.findall(folded(unicodedata.normalize("NFKC", term)))
            if not tokens:
                continue
            if _NO_SPACES.search(term):
                inside.append("".join(tokens))
            elif len(tokens) == 1:
                single.add(tokens[0])
            else:
                phrases.append(tokens)
        self._single, self._inside = frozenset(single), tuple(inside)
        self._phrases = tuple(f" {' '.join(tokens)} " for tokens in phrases)

        #: A query of plain words, perhaps with a question mark, that has none of these is clean.
        first = self._single | {tokens[0] for tokens in phrases}
        self.first_words = first | {f"{word}?" for word in first}

    def rule_for(self, text: str, context: Sequence[str] = ()) -> str:
        """Name of the rule that drops a normalised query, empty if none does.

        Its length counts in the query; the other rules hold for the turns before it too: people see them.
        """
        for each in (text, *context):
            rule = self._pattern(each)
            if rule:
                return rule
        if len(text) < self.least:
            return "short"
        return "long" if len(text) > self.most else ""

    def _pattern(self, text: str) -> str:
        # Full-width and other forms of digits and signs hide nothing.
        plain = folded(text if text.isascii() else unicodedata.normalize("NFKC", text))
        on = self.rules
        if "@" in plain and "email" in on and _EMAIL.search(plain):
            return "email"
        if _SOME_DIGITS.search(plain):
            digits = plain if plain.isascii() else _ascii_digits(plain)
            if "card" in on and _has_card(digits):
                return "card"
            if "national-id" in on and _has_national_id(digits):
                return "national-id"
            if "phone" in on and _PHONE.search(digits):
                return "phone"
        if ("." in plain or ":" in plain or "www" in plain) and "url" in on and _URL.search(plain):
            return "url"
        return "words" if "words" in on and self._has_word(plain) else ""

    def _has_word(self, plain: str) -> bool:
        tokens = _TOKENS.findall(plain)
        if not self.first_words.isdisjoint(tokens):
            if not self._single.isdisjoint(tokens):
                return True
            line = f" {' '.join(tokens)} "
            if any(phrase in line for phrase in self._phrases):
                return True
        if plain.isascii():
            return False
        together = "".join(tokens)
        return any(term in together for term in self._inside)


def _ascii_digits(text: str) -> str:
    """With digits of all scripts as 0 to 9."""
    return "".join(str(unicodedata.decimal(each)) if each.isdecimal() else each for each in text)


def _has_card(text: str) -> bool:
    for match in _DIGITS.finditer(text):
        digits = match[0].replace(" ", "").replace("-", "")
        if digits[0] in "23456" and len(set(digits)) > 1 and luhn(digits):
            return True
    return False


def luhn(digits: str) -> bool:
    """Whether the last digit is the check digit of the others (ISO/IEC 7812-1)."""
    doubled = (sum(divmod(2 * int(each), 10)) for each in digits[-2::-2])
    return (sum(map(int, digits[-1::-2])) + sum(doubled)) % 10 == 0


def _has_national_id(text: str) -> bool:
    """US social security, UK insurance, Brazilian CPF, Emirates ID, Indian Aadhaar, and two with checks."""
    simple = (_SSN, _NINO, _BRAZIL, _EMIRATES, _INDIA)
    if any(pattern.search(text) for pattern in simple):
        return True
    return any(_china(match[0]) for match in _CHINA.finditer(text)) or any(
        _spain(*match.groups()) for match in _SPAIN.finditer(text)
    )


def _china(number: str) -> bool:
    """Check character of a Chinese resident identity number (GB 11643-1999, ISO 7064 MOD 11-2)."""
    total = sum(int(digit) * pow(2, 17 - place, 11) for place, digit in enumerate(number[:17]))
    return "10x98765432"[total % 11] == number[17]


def _spain(prefix: str, number: str, letter: str) -> bool:
    """Check letter of a Spanish DNI, or of a NIE with its first letter."""
    if len(number) != (7 if prefix else 8):
        return False
    full_number = int((str("xyz".index(prefix)) if prefix else "") + number)
    return "trwagmyfpdxbnjzsqvhlcke"[full_number % 23] == letter


DESIGNS = ("all", "uniform", "count", "strata")
STRATA = {"count": ("head", "torso", "tail"), "type": (*TYPES, "YES_NO", "NONE")}
#: More would be a project that nobody can pay for, and all of it would have to be written at once.
MOST = 1_000_000


@dataclass(frozen=True, slots=True)
class SampledQuery:
    """A query of the sample."""

    ordinal: int
    count: int
    weight: float
    stratum: str = ""


@dataclass(frozen=True, slots=True)
class Design:
    """How to sample. `size` counts for all designs but `all`; quotas take its place in `strata`.

    Head, torso and tail: the most frequent queries that make up the first third of all lines, those of the
    second third, and the rest; or by least counts where `head_from` and `torso_from` say so. Equal counts are
    never in different strata.
    """

    by: str = "all"
    size: int = 0
    seed: int = 1
    strata: str = "count"
    quotas: Mapping[str, int] = field(default_factory=dict)
    head_from: int | None = None
    torso_from: int | None = None

    def check(self) -> None:
        """ValueError for a design that makes no sense."""
        if self.by not in DESIGNS:
            raise ValueError(f"There is no design {self.by!r}; there are: {', '.join(DESIGNS)}.")
        if self.by != "all" and not self.quotas and not 1 <= self.size <= MOST:
            raise ValueError(f"A sample has 1 to {MOST:,} queries, not {self.size:,}.")
        if self.quotas and self.by != "strata":
            raise ValueError("Quotas are for the design `strata`.")
        if self.strata not in STRATA:
            raise ValueError(f"There are no strata by {self.strata!r}; there are: {', '.join(STRATA)}.")
        unknown = [name for name in self.quotas if name not in STRATA[self.strata]]
        if unknown:
            raise ValueError(
                f"There is no stratum {unknown[0]!r}; there are: {', '.join(STRATA[self.strata])}."
            )
        if any(not 0 <= quota <= MOST for quota in self.quotas.values()):
            raise ValueError("A quota is a whole number from 0 on.")
        if not -(2**63) <= self.seed < 2**63:
            raise ValueError("A seed is a whole number of 64 bits.")
        if (self.head_from is None) != (self.torso_from is None):
            raise ValueError("Head and torso are bounded both, or neither.")
        if self.head_from is not None and not 1 <= (self.torso_from or 0) <= self.head_from:
            raise ValueError("The torso begins at a count of at least 1 that is not above the head's.")


def key_of(seed: int) -> bytes:
    """What goes into the hash before the text, 16 bytes."""
    return seed.to_bytes(16, "little", signed=True)
