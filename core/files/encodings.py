"""Encodings of text files: which names are taken, and which encoding a file seems to have.

    text_encoding("latin-1")             "iso8859-1"; EncodingError for "zlib", "rot13", "idna" or a slip
    guess_encoding(blocks_of_the_file)   Guess("cp1252", 0.98)

A mark at the beginning decides; then UTF-8, as soon as most lines beyond ASCII are valid UTF-8; everything
else is what charset-normalizer finds the least messy, where Western European wins a draw.
"""

import codecs
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

#: Encodings with a name that a form can offer, the most usual first.
USUAL = {
    "utf-8": "UTF-8",
    "utf-16": "UTF-16",
    "cp1252": "Windows-1252 (Western Europe)",
    "iso8859-1": "Latin-1 (Western Europe)",
    "cp1250": "Windows-1250 (Central Europe)",
    "cp1251": "Windows-1251 (Cyrillic)",
    "koi8-r": "KOI8-R (Cyrillic)",
    "cp1253": "Windows-1253 (Greek)",
    "cp1254": "Windows-1254 (Turkish)",
    "cp1255": "Windows-1255 (Hebrew)",
    "cp1256": "Windows-1256 (Arabic)",
    "shift_jis": "Shift JIS (Japanese)",
    "euc_jp": "EUC-JP (Japanese)",
    "gb18030": "GB 18030 (Chinese)",
    "big5": "Big5 (Chinese)",
    "cp949": "Windows-949 (Korean)",
}
#: All that are taken: text in which a line feed and ASCII are what they are in ASCII, and the wide ones.
ALLOWED = (
    frozenset(USUAL)
    | {f"iso8859-{number}" for number in range(1, 17) if number != 12}
    | {f"cp{number}" for number in range(1250, 1259)}
    | {f"cp{number}" for number in (437, 720, 737, 775, 850, 852, 855, 857, 858, *range(860, 864), 865, 866)}
    | {f"mac-{name}" for name in ("roman", "latin2", "cyrillic", "greek", "turkish", "iceland", "croatian")}
    | {"utf-8-sig", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be", "ascii"}
    | {"cp869", "cp874", "cp932", "cp950", "tis-620", "koi8-u", "koi8-t", "kz1048", "ptcp154"}
    | {"gb2312", "gbk", "hz", "big5hkscs", "euc_kr", "johab", "iso2022_jp", "iso2022_kr"}
    | {"shift_jis_2004", "shift_jisx0213", "euc_jis_2004", "euc_jisx0213"}
)
_GUESSED = [name for name in USUAL if name not in ("utf-8", "utf-16", "iso8859-1")]
_LONGEST_NAME = 40
MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
#: Encodings in which a newline is several bytes, with or without -le, -be.
WIDE = ("utf-16", "utf-32")
#: Bytes that a guess looks through for lines beyond ASCII, and how much of these it weighs.
_LOOK, _SAMPLE, _START = 64 * 2**20, 2**16, 4096
#: Lines of UTF-8 beyond ASCII after which a file is UTF-8, whatever comes later.
_PLENTY = 5000
#: Differences of mess and of coherence that say nothing.
_DRAW_MESS, _DRAW_COHERENCE = 0.035, 0.05
_KANA_SHARE = 0.2
#: Below it the guess is one of several. Short Western texts, guessed rightly, are below it too.
_HALF = 0.5
_HEBREW = re.compile("[\u05d0-\u05ea]{3}")
#: A vowel sign behind no letter, a final letter before another one, letters of two scripts in a word.
_NO_HEBREW = re.compile(
    "(?<![\u0591-\u05ea])[\u0591-\u05c7]|[\u05da\u05dd\u05df\u05e3\u05e5][\u05d0-\u05ea]"
    "|[^\\W\\d_\u05d0-\u05ea][\u05d0-\u05ea]|[\u05d0-\u05ea][^\\W\\d_\u05d0-\u05ea]"
)


class EncodingError(ValueError):
    """A name that is no encoding of text, in a sentence with a remedy."""


@dataclass(frozen=True, slots=True)
class Guess:
    """What a file seems to be encoded in; `confidence` from 0 to 1, where 1 needs no question."""

    encoding: str
    confidence: float

    @property
    def description(self) -> str:
        """The encoding in words, with a caution where it is a guess."""
        named = USUAL.get(self.encoding.removesuffix("-sig"), self.encoding.upper())
        if self.confidence >= 1:
            return named
        doubt = "" if self.confidence >= _HALF else "; others fit as well: look at the letters"
        return f"{named}, a guess ({self.confidence:.0%}{doubt})"


def text_encoding(name: str) -> str:
    """Python's name of an encoding of text; EncodingError where there is none of that name."""
    wish = name.strip()
    try:
        codec = codecs.lookup(wish).name if len(wish) <= _LONGEST_NAME else ""
    except (LookupError, ValueError):
        codec = ""
    if codec in ALLOWED:
        return codec
    shortened = wish if len(wish) <= _LONGEST_NAME else f"{wish[:_LONGEST_NAME]}…"
    raise EncodingError(
        f"{shortened!r} is no encoding of text files. Usual ones are utf-8, utf-16, cp1252, latin-1, "
        "shift_jis."
    )


def guess_encoding(content: bytes | Iterable[bytes]) -> Guess:
    """The encoding of a file by its bytes; blocks are read only as far as they are needed."""
    blocks = iter([content] if isinstance(content, bytes) else content)
    start = next(blocks, b"")
    if marked := marked_encoding(start):
        return Guess(marked, 1)
    if wide := _wide(start[:_START]):
        return wide
    strange = _strange_lines(start, blocks)
    if not strange:
        return Guess("utf-8", 1)
    return _least_messy(strange)


def marked_encoding(start: bytes) -> str:
    """The encoding that a byte order mark at the beginning names; empty where there is none."""
    return next((name for mark, name in MARKS.items() if start.startswith(mark)), "")


def narrow_encoding(encoding: str) -> str:
    """The encoding of what `narrow_blocks` gives: UTF-8 for all of Unicode's, any other as it is."""
    return "utf-8" if encoding.startswith((*WIDE, "utf-8")) else encoding


def narrow_blocks(blocks: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """Bytes of an encoding whose newline is one byte: wide ones become UTF-8. UnicodeError where they lie."""
    if not encoding.startswith(WIDE):
        yield from blocks
        return
    decoder = codecs.getincrementaldecoder(encoding)()
    for block in blocks:
        yield decoder.decode(block).encode()
    yield decoder.decode(b"", final=True).encode()


def _wide(start: bytes) -> Guess | None:
    """UTF-16 without a mark: half of the bytes of mostly Latin text are NUL, always the same half."""
    if len(start) < 4:
        return None
    even, odd = start[::2].count(0), start[1::2].count(0)
    half = len(start) // 2
    if odd > half * 0.4 and even < half * 0.02:
        return Guess("utf-16-le", 0.9)
    if even > half * 0.4 and odd < half * 0.02:
        return Guess("utf-16-be", 0.9)
    return None


def _strange_lines(start: bytes, blocks: Iterable[bytes]) -> bytes:
    """Lines that are no UTF-8, where they are more than those that are; a cut line counts as neither."""
    strange: list[bytes] = []
    size = valid = seen = 0
    rest = b""
    block: bytes | None = start
    rising = iter(blocks)
    while block is not None and seen < _LOOK and size < _SAMPLE and valid - len(strange) < _PLENTY:
        seen += len(block)
        lines, rest = rest + block, b""
        if not lines.isascii():
            cut = max(lines.rfind(b"\n"), lines.rfind(b"\r")) + 1
            lines, rest = lines[:cut], lines[cut:][-_SAMPLE:]
            good, bad = _sorted(lines)
            valid += good
            strange += bad
            size += sum(map(len, bad))
        block = next(rising, None)
    if block is None and rest:
        good, bad = _sorted(rest)
        valid += good
        strange += bad
    elif rest and not strange and not valid and not _is_utf8(rest, final=False):
        strange.append(rest)
    return _sample(strange) if len(strange) > valid else b""


def _sample(lines: list[bytes]) -> bytes:
    """Whole lines, for half a character of several bytes is an error in every encoding."""
    sample: list[bytes] = []
    size = 0
    for line in lines:
        size += len(line)
        if sample and size > _SAMPLE:
            break
        sample.append(line)
    return b"\n".join(sample)[: 4 * _SAMPLE]


def _sorted(lines: bytes) -> tuple[int, list[bytes]]:
    """How many lines are UTF-8 beyond ASCII, and the lines that are not."""
    if _is_utf8(lines):
        return 0 if lines.isascii() else sum(not line.isascii() for line in lines.splitlines()), []
    beyond = [line for line in lines.splitlines() if not line.isascii()]
    bad = [line for line in beyond if not _is_utf8(line)]
    return len(beyond) - len(bad), bad


def _is_utf8(data: bytes, *, final: bool = True) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data, final=final)
    except UnicodeDecodeError:
        return False
    return True


def _least_messy(sample: bytes) -> Guess:
    from charset_normalizer import from_bytes  # only for files that are not UTF-8

    guesses = list(from_bytes(sample, cp_isolation=_GUESSED, threshold=0.4))
    if not guesses:
        return Guess("cp1252", 0.3) if _decoded(sample, "cp1252") is not None else Guess("iso8859-1", 0.2)
    if (hebrew := next((each for each in guesses if each.encoding == "cp1255"), None)) is not None:
        if not _is_hebrew(str(hebrew)):
            guesses = [each for each in guesses if each is not hebrew] or guesses
        elif hebrew.chaos <= guesses[0].chaos + _DRAW_MESS:
            guesses = [hebrew]
    best = guesses[0]
    close = [
        each
        for each in guesses
        if each.chaos <= best.chaos + _DRAW_MESS and each.coherence >= best.coherence - _DRAW_COHERENCE
    ]
    japanese = next((each for each in guesses if _is_japanese(sample, each.encoding)), None)
    if japanese is not None and japanese.chaos < best.chaos + 2 * _DRAW_MESS:
        best, close = japanese, [japanese]
    western = _decoded(sample, "cp1252")
    texts = {_decoded(sample, each.encoding) for each in close}
    name = best.encoding
    if western is not None and (western in texts or _decoded(sample, name) == western):
        name = "cp1252"
    sure = max(0.0, 0.99 - best.chaos)
    return Guess(codecs.lookup(name).name, round(sure if len(texts) == 1 else sure / 2, 2))


def _decoded(sample: bytes, encoding: str) -> str | None:
    try:
        return sample.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return None


def _is_hebrew(text: str) -> bool:
    """Whether there are words of Hebrew letters, none as no Hebrew word is; Cyrillic letters make such."""
    return _HEBREW.search(text) is not None and _NO_HEBREW.search(text) is None


def _is_japanese(sample: bytes, encoding: str) -> bool:
    """Whether a part of the text is hiragana under a Japanese encoding; under a wrong one none is."""
    if encoding not in ("shift_jis", "euc_jp"):
        return False
    beyond = [each for each in _decoded(sample, encoding) or "" if each > "\x7f"]
    kana = sum("\u3041" <= each <= "\u3096" for each in beyond)
    return kana > len(beyond) * _KANA_SHARE
