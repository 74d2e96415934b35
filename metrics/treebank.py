"""Penn Treebank tokens by the conventions of Stanford CoreNLP 3.4.1, as regular expressions.

At each place of a text the rule that reaches furthest wins, counting what it looks ahead at; of equally long
ones the first. What no rule knows, such as white space, is left out. docs/metrics.md says how this was
compared with the original.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain

Rewrite = Callable[[str], str]
SPACE = " \t\u00a0\u2000-\u200a\u3000"
_BLANK = f"[{SPACE}]"
_QUOTE = r"(?:['\x92\u2019]|&apos;)"
_ANY_QUOTE = r"(?:['`\x92\u2019\x91\u2018\u201b]|&apos;)"
_ACRONYM = (
    r"(?:[A-Za-z](?:\.[A-Za-z])+|(?i:Canada|Sino|Korean|EU|Japan|non)-[Uu]\.[Ss]"
    r"|[Uu]\.[Ss]\.-[Uu]\.(?:[Ss]\.[Ss]\.[Rr]|[Kk]))"
)
#: Followed by a capital they end a sentence, whose full stop is then said again.
_ENDING = (
    r"(?:(?i:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec|Mon|Tues?|Wed|Thu|Thurs|Fri|Ala|Ariz|Calif|Colo"
    r"|Conn|Ct|Dak|Fla|Ga|Ind|Kans?|Ky|Md|Mich|Minn|Mo|Mont|Neb|Nev|Okla|Penn|Tenn|Va|Vt|Wisc?|Wyo|Rt|Sr|Jr"
    r"|Bros|Ed\.D|Ph\.D|Blvd|Rd|Esq|Inc|Cos?|Corp|Ltd|Plc|Bancorp|Bhd|Assn|Univ|Intl|Sys|tel|est|ext|sq|etc"
    r"|al|seq|Bldg)|A[Zz]|A[Rr][Kk]|D[Ee][Ll]|I[Ll][Ll]|L[Aa]|M[Aa][Ss][Ss]|M[Ii][Ss][Ss]|O[Rr][Ee]|P[Aa]"
    r"|T[Ee][Xx]|W[Aa][Ss][Hh]|[Pp]{1,2}[Tt][ye][Ss]?)\."
)
#: A name, a word or a number comes after these.
_LEADING = (
    r"(?:(?i:Mr|Mrs|Ms|Drs?|Profs?|Sens?|Reps?|Attys?|Lt|Col|Gen|Messrs|Govs?|Adm|Rev|Maj|Sgt|Cpl|Pvt|Mt|Capt"
    r"|Ste?|Ave|Pres|Lieut|Hon|Brig|Co?mdr|Pfc|Spc|Supts?|Det|Adj|Adv|Asst|Assoc|Ens|Insp|Mlle|Mme|Msgr|Sfc|Ft"
    r"|Dept|Invt|Elec|Natl|Ph|vs|Alex|Wm|Jos|Cie|a\.k\.a|cf|TREAS)|[Mm][ft][Gg]|[A-Za-z])\."
)
#: An acronym before one of these ends a sentence.
STARTS = frozenset(
    (
        "A",
        "About",
        "According",
        "Additionally",
        "After",
        "An",
        "As",
        "At",
        "But",
        "Earlier",
        "He",
        "Her",
        "Here",
        "However",
        "If",
        "In",
        "It",
        "Last",
        "Many",
        "More",
        "Mr.",
        "Ms.",
        "Now",
        "Once",
        "One",
        "Other",
        "Our",
        "She",
        "Since",
        "So",
        "Some",
        "Such",
        "That",
        "The",
        "Their",
        "Then",
        "There",
        "These",
        "They",
        "This",
        "We",
        "What",
        "When",
        "While",
        "Yet",
        "You",
    )
)
_TAG = (
    r"<(?:[!?][A-Za-z-][^>\r\n]*|/?[A-Za-z][A-Za-z0-9:.-]*"
    r"""(?: +(?:[A-Za-z][A-Za-z0-9:.-]*(?: *= *(?:'[^\r\n']*'|"[^\r\n"]*"))?"""
    r"""|'[^\r\n']*'|"[^\r\n"]*"| */))* *)>"""
)
_MARKS = (
    r"+%&~^|\\\xa6\xa7\xa8\xa9\xac\xae\xaf\xb0-\xb3\xb4-\xba\xd7\xf7\u0387\u05be\u05c0\u05c3\u05c6\u05f3\u05f4"
    r"\u0600-\u0603\u0606-\u060a\u060c\u0614\u061b\u061e\u066a\u066d\u0703-\u070d\u07f6-\u07f8\u0964\u0965\u0e4f"
    r"\u1fbd\u2016\u2017\u2020-\u2023\u2030-\u2038\u203b\u203e-\u2042\u2044\u207a-\u207f\u208a-\u208e\u2100-\u214f"
    r"\u2190-\u21ff\u2200-\u2bff\u3012\u30fb\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
)
#: Marks that stand within words although Unicode calls most of them no letters.
_WORD_MARKS = (
    r"\xad\u0237-\u024f\u02c2-\u02c5\u02d2-\u02df\u02e5-\u02ff\u0300-\u036f\u0370-\u037d\u0384\u0385\u03cf\u03f6"
    r"\u03fc-\u03ff\u0483-\u0487\u04cf\u04f6-\u04ff\u0510-\u0525\u055a-\u055f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4"
    r"\u05c5\u05c7\u0615-\u061a\u063b-\u063f\u064b-\u065e\u0670\u06d6-\u06ef\u06fa-\u06ff\u070f\u0711\u0730-\u077f"
    r"\u07a6-\u07b1\u07ca-\u07f5\u07fa\u0900-\u0903\u093c\u093e-\u094e\u0951-\u0955\u0962-\u0963\u0981-\u0983"
    r"\u09bc-\u09c4\u09c7\u09c8\u09cb-\u09cd\u09d7\u09e2\u09e3\u0a01-\u0a03\u0a3c\u0a3e-\u0a4f\u0a81-\u0a83"
    r"\u0abc-\u0acf\u0b82\u0bbe-\u0bc2\u0bc6-\u0bc8\u0bca-\u0bcd\u0c01-\u0c03\u0c3e-\u0c56\u0d3e-\u0d44\u0d46-\u0d48"
    r"\u0e30-\u0e3a\u0e47-\u0e4e\u0eb1-\u0ebc\u0ec8-\u0ecd"
)


@dataclass(frozen=True, slots=True)
class Rule:
    """What a token may look like, how it is written, and whether its last character is read once more."""

    pattern: re.Pattern[str]
    says: Rewrite | None = None
    again: bool = False


def lexed(text: str, context: str = "") -> Iterator[str]:
    """Tokens of one text in their own case; `context` comes after it, or else its line ends."""
    line = f"{text}{context}\n\n"
    place = 0
    while place < len(text):
        best, rule = _furthest(line, place)
        if best is None or rule is None:
            place += 1
            continue
        group = best.re.groups
        token = best.group(group)
        yield rule.says(token) if rule.says else token
        place = best.end(group) - rule.again


def _furthest(line: str, place: int) -> tuple[re.Match[str] | None, Rule | None]:
    best, furthest_rule, furthest = None, None, place
    for rule in _rules():
        match = rule.pattern.match(line, place)
        if match and match.end() > furthest:
            best, furthest_rule, furthest = match, rule, match.end()
    return best, furthest_rule


def _quotes(left: bool) -> Rewrite:
    """Quotation marks as the treebank has them, an upright one as an opening or a closing one."""
    one, two = ("`", "``") if left else ("'", "''")
    written = {"&apos;": one, "'": one, "&quot;": two, '"': two}
    written |= dict.fromkeys("\x91\u2018\u201b\u2039", "`") | dict.fromkeys("\x92\u2019\u203a", "'")
    written |= dict.fromkeys("\x93\u201c\xab", "``") | dict.fromkeys("\x94\u201d\xbb", "''")
    pattern = re.compile("|".join(map(re.escape, written)))
    return lambda token: pattern.sub(lambda match: written[match.group()], token)


def _always(written: str) -> Rewrite:
    return lambda token: written


def _one_of(written: Mapping[str, str]) -> Rewrite:
    return lambda token: written.get(token, token)


def _solid(token: str) -> str:
    return token.replace("\xad", "") or "-"


def _unbroken(token: str) -> str:
    return token.replace(" ", "\xa0")


def _bracketed(token: str) -> str:
    return token.replace("(", "-LRB-").replace(")", "-RRB-")


def _dashes(token: str) -> str:
    return "--" if 3 <= len(token) <= 4 else token


def _ampersand(token: str) -> str:
    return re.sub("(?i:&amp;)", "&", token)


_OPENING, _CLOSING = _quotes(left=True), _quotes(left=False)
_BRACKETS = {"(": "-LRB-", ")": "-RRB-", "[": "-LSB-", "]": "-RSB-", "{": "-LCB-", "}": "-RCB-"}
_CURRENCIES = {"\xa2": "cents", "\xa3": "#", "\x80": "$", "\xa4": "$", "\u20a0": "$", "\u20ac": "$"}
_FRACTIONS = {"\xbc": "1/4", "\xbd": "1/2", "\xbe": "3/4", "\u2153": "1/3"}


@cache
def _rules() -> tuple[Rule, ...]:
    """All rules, in the order that decides between equally long ones; group 1 is the token."""
    return tuple(
        Rule(re.compile(rule[0]), *rule[1:])
        for rules in (_list_patterns(), _addresses(), _numbers(), _abbreviations(), _files(), _marks())
        for rule in rules
    )


def _list_patterns() -> Iterator[tuple[str, Rewrite | None]]:
    letter = f"(?:[{_letters()}{_WORD_MARKS}]|&[aeiouAEIOU](?:acute|grave|uml);)"
    word = rf"{letter}(?:{letter}|\d)*(?:[.!?]{letter}(?:{letter}|\d)*)*"
    both = rf"(?:[{_letters()}]|\d)"
    start = f"(?:[dDoOlL]{_ANY_QUOTE}{both})?"
    thing = rf"{start}{both}+(?:[-_\u058a\u2010\u2011]{start}{both}+)*"
    sum_ = r"[A-Z]+(?:(?:[+&]|&amp;)[A-Z]+)+"
    hyphened = rf"[A-Za-z0-9][A-Za-z0-9.,\xad]*(?:-(?:{_ACRONYM}\.|[A-Za-z0-9\xad]+))+"
    aux = rf"{_QUOTE}(?:[msdMSD]|(?i:re|ve|ll))"
    not_ = f"(?i:n){_ANY_QUOTE}(?i:t)"
    yield r"(?i:c\+\+|[cf]#)", None
    yield r"((?i:can))(?i:not)", None
    yield r"((?i:'t))(?i:was)", None
    yield rf"((?i:{_QUOTE}t))(?i:is)", None
    yield r"((?i:gon|wan)(?=(?i:na))|(?i:got)(?=(?i:ta))|(?i:lem|gim)(?=(?i:me)))..", None
    yield _TAG, _unbroken
    yield r"(?i:&(?:MD|mdash|ndash);)|[\x96\x97\u2013-\u2015]", _always("--")
    yield "(?i:&amp;)", _always("&")
    yield r"&(?:(?i:HT|TL|UR|LR|QC|QL|QR|odq|cdq)|\#[0-9]+);", None
    yield f"({word}){aux}", _solid
    yield rf"([A-Za-z\xad]*[A-MO-Za-mo-z]\xad*){not_}", _solid
    yield word, _solid
    letters = f"[{_letters()}]"
    yield (
        (
            rf"{_QUOTE}(?i:n){_QUOTE}?|[lLdDjJ]{_QUOTE}|(?i:Dunkin|somethin|ol){_QUOTE}|{_QUOTE}(?i:em)"
            rf"|{_QUOTE}[2-9]0(?i:s)|{_QUOTE}(?i:till?|cause)|(?i:cont'd)\.?|(?i:nor'easter|c'mon|e'er|s'mores)"
            rf"|(?i:ev'ry|li'l|nat'l)|[oO]{_ANY_QUOTE}[oO]"
        ),
        None,
    )
    yield rf"[A-HJ-XZn]{_ANY_QUOTE}{letters}{{2,}}", None
    yield rf"{letters}+[aeiouyAEIOUY]{_ANY_QUOTE}[aeiouA-Z]{letters}*", None
    yield rf"([yY]{_QUOTE}){letters}", None
    yield f"({aux})[^A-Za-z]", _CLOSING
    yield f"({not_})[^A-Za-z]", _CLOSING
    yield (
        (
            rf"(?i:-(?:RRB|LRB|RCB|LCB|RSB|LSB)-|C\.D\.s|pro-|anti-|S(?:&|&amp;)P-500|S(?:&|&amp;)Ls"
            rf"|Cap{_QUOTE}n|c{_QUOTE}est)"
        ),
        _ampersand,
    )
    yield r"[A-Za-z0-9]+(?:-[A-Za-z]+){0,2}(?:\\?/[A-Za-z0-9]+(?:-[A-Za-z]+){0,2}){1,2}", None
    yield rf"({word}\.)[,;:\u3001]", _solid
    yield rf"({hyphened}\.)[,;:\u3001]", _solid
    yield hyphened, _solid
    yield rf"({thing}\.)[,;:\u3001]", None
    yield thing, None
    yield rf"({sum_}\.)[,;:\u3001]", _ampersand
    yield sum_, _ampersand
    yield r"(')[A-Za-z][^ \t\n\r\xa0]", _OPENING
    yield aux, _CLOSING


def _addresses() -> Iterator[tuple[str, Rewrite | None]]:
    end = r"""[^ \t\n\f\r"<>|.!?(){},-]"""
    path = rf"""/[^ \t\n\f\r"<>|()]+{end}"""
    www = r"""(?i:www)\.(?:[^ \t\n\f\r"<>|.!?(){},]+\.)+"""
    other = r"""(?:[^ \t\n\f\r"`'<>|.!?(){},-_$]+\.)+"""
    yield rf"""(?i:https?)://[^ \t\n\f\r"<>|()]+{end}""", None
    yield f"{www}[a-zA-Z]{{2,4}}", None
    yield f"{www}?[a-zA-Z]{{2,4}}{path}", None
    yield f"{other}(?i:com|net|org|edu)", None
    yield f"{other}?(?i:com|net|org|edu){path}", None
    yield (
        (
            r"""(?:&lt;|<)?[a-zA-Z0-9][^ \t\n\f\r"<>|(){}\xa0]*@(?:[^ \t\n\f\r"<>|(){}.\xa0]+\.)*"""
            r"""[^ \t\n\f\r"<>|(){}.\xa0]+(?:&gt;|>)?"""
        ),
        None,
    )
    yield r"@[a-zA-Z_][a-zA-Z_0-9]*", None
    yield rf"\#[{_letters()}{_WORD_MARKS}]+", None


def _numbers() -> Iterator[tuple[str, Rewrite | None]]:
    yield r"\d{1,2}[-/]\d{1,2}[-/]\d{2,4}", None
    yield r"[-+]?(?:\d*(?:[.:,\xad\u066b\u066c]\d+)+|\d+)", _solid
    yield r"[\u207a\u207b\u208a\u208b]?(?:[\u2070\xb9\xb2\xb3\u2074-\u2079]+|[\u2080-\u2089]+)", None
    yield r"(?:\d{1,4}[- \xa0])?\d{1,4}(?:\\?/|\u2044)\d{1,4}", _unbroken
    yield r"[\xbc-\xbe\u2153-\u215e]", _one_of(_FRACTIONS)
    yield r"[A-Z]*\$|\#", None
    yield r"[\xa2-\xa5\x80\u20a0\u20ac\u060b\u0e3f\u20a4\uffe0\uffe1\uffe5\uffe6]", _one_of(_CURRENCIES)
    yield rf"({_QUOTE}[0-9][0-9])[{SPACE}\n\r]", None
    yield (
        (
            r"(?:\([0-9]{2,3}\)[ \xa0]?|(?:\+\+?)?(?:[0-9]{2,4}[- \xa0])?[0-9]{2,4}[- \xa0])"
            r"[0-9]{3,4}[- \xa0]?[0-9]{3,5}|(?:(?:\+\+?)?[0-9]{2,4}\.)?[0-9]{2,4}\.[0-9]{3,4}\.[0-9]{3,5}"
        ),
        lambda token: _bracketed(_unbroken(token)),
    )


def _files() -> Iterator[tuple[str, Rewrite | None]]:
    yield (
        (
            r"([A-Za-z0-9]+(?:\.[A-Za-z0-9]+)*\.(?i:bat|bmp|bz2|cgi|class|cpp|c|dll|docx?|exe|gif|gz|html?|h|jar|java"
            r"|jpe?g|mov|mp[34g]|pdf|php|pl|png|ppt|ps|py|sql|tar|txt|wav|xml|x|zip|3gp|wm[va]|avi|flv))"
            rf"""[{SPACE}\n\r.?!,"'<]"""
        ),
        None,
    )


def _abbreviations() -> Iterator[tuple[str, Rewrite | None] | tuple[str, Rewrite | None, bool]]:
    starts = "|".join(map(re.escape, sorted(STARTS)))
    after = rf"{_BLANK}+(?:{starts}|{_TAG})[{SPACE}\n]"
    yield rf"({_ACRONYM}\.){after}", None, True
    yield rf"([A-Za-z])\.{after}", None
    yield rf"((?i:ca|figs?|prop|nos?|art|pp|op)\.)[{SPACE}\n]?\d", None
    yield rf"((?i:pt[ye]|co)\.){_BLANK}(?i:ltd|lim)", None
    yield rf"({_ENDING})[{SPACE}\n](?:[{SPACE}\n]|[A-Z]|{_TAG})", None, True
    yield rf"(?s:({_ENDING})..)", None
    yield _ENDING, None
    yield rf"(?:{_ACRONYM}\.|{_LEADING})", None
    yield rf"({_ACRONYM})[{SPACE}\n]", None


def _marks() -> Iterator[tuple[str, Rewrite | None]]:
    yield r"""("|(?i:&quot;))[A-Za-z0-9$]""", _OPENING
    yield r'"|(?i:&quot;)', _CLOSING
    yield "(?i:&lt;)", _always("<")
    yield "(?i:&gt;)", _always(">")
    yield "[<>]", None
    yield r"[][(){}]", _one_of(_BRACKETS)
    yield r"([<>]?[:;=][-o*']?[()DPdpO\\{@|\[\]])[^A-Za-z0-9]", _bracketed
    yield r"[-^x=~<>']_[-^x=~<>']|\([-^x=~<>'][_.]?[-^x=~<>']\)|\([\^x=~<>']-[\^x=~<>'`]\)", _bracketed
    yield r"-+", _dashes
    yield r"\.{3,5}|(?:\.[ \xa0]){2,4}\.|[\x85\u2026]", _always("...")
    yield r"@+|\#+|_+", None
    yield r"\*+|(?:\\\*){1,3}", None
    yield r"[,;:\u3001]", None
    yield r"[?!]+", None
    yield r"[.\xa1\xbf\u037e\u0589\u061f\u06d4\u0700-\u0702\u07fa\u3002]", None
    yield r"[=/]", None
    quote = r"[`\u2018-\u201b\u201c-\u201f\x91-\x94\u2039\u203a\xab\xbb]"
    yield _QUOTE, _CLOSING
    yield rf"''|{quote}{{1,2}}", _CLOSING
    yield r"<<|>>", None
    yield f"[{_MARKS}]", None


@cache
def _letters() -> str:
    """Letters of the Basic Multilingual Plane, as ranges for a character class."""
    ranges: list[list[int]] = []
    for code in range(0x10000):
        if unicodedata.category(chr(code))[0] == "L":
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return "".join(f"\\u{first:04x}-\\u{last:04x}" for first, last in ranges)


# Most tokens depend on nothing beyond the white space around them, so pieces between white space are kept
# with their tokens. A text in which a token could reach across white space (a phone number, "1 1/2", a tag,
# ". . .") is read as a whole.

_BREAKS = re.compile(r"[\r\n\u2028\u2029\x0b\x0c]+")
_ACROSS = re.compile(rf"<|[{SPACE}]{{2}}|\d[ \xa0]\d|\)[ \xa0]\d|\.[ \xa0]\.")
_SPLIT = re.compile(f"[{SPACE}]")
_COMPANY = ("pty.", "pte.", "co.")
_KNOWN = 1 << 17


def tokens_of(text: str) -> list[str]:
    """The tokens of a text in lower case, fast."""
    line = _BREAKS.sub(" ", text)
    if _ACROSS.search(line):
        return [token.lower() for token in lexed(line)]
    pieces = _SPLIT.split(line)
    return list(
        chain.from_iterable(
            _tokens(piece, _context(piece, after) if piece[-1:] == "." else "")
            for piece, after in zip(pieces, [*pieces[1:], ""], strict=True)
        )
    )


def _context(piece: str, after: str) -> str:
    """As much of what comes after a piece with a full stop as its tokens can depend on."""
    if not after:
        return ""
    if after in STARTS:
        return f" {after} "
    return f" {after[:3]}" if piece.lower().endswith(_COMPANY) else f" {after[0]}~"


@lru_cache(_KNOWN)
def _tokens(piece: str, context: str) -> tuple[str, ...]:
    return tuple(token.lower() for token in lexed(piece, context))
