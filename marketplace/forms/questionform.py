"""QuestionForm: questions that the marketplace itself draws, as tasks and tests, read into plain values."""

import re
from collections.abc import Callable, Set
from dataclasses import dataclass
from html.entities import html5
from typing import Literal
from urllib.parse import urlsplit
from xml.etree.ElementTree import Element, ParseError, tostring

from defusedxml import ElementTree as SafeTree
from defusedxml.common import DefusedXmlException

from marketplace.errors import Refusal, invalid_value

# XML that somebody sent: read without DTD and entities, refused in a sentence, written without a mishap.

SCHEMAS = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/"
#: What MTurk takes for a question, a test and an answer key alike.
MAX_BYTES = 65_535
_HTML_PAGE = re.compile(r"\s*<(!doctype\s+html|html|head|body|form|div|p|h[1-6])\b", re.IGNORECASE)
_UNPRINTABLE = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def root_of(xml: str, *, parameter: str = "Question", most_bytes: int = MAX_BYTES) -> Element:
    """Root element of XML that came in a parameter; raises Refusal where it is too long or not XML."""
    if len(xml.encode("utf-8", "surrogatepass")) > most_bytes:
        raise invalid_value(parameter, f"it is longer than {most_bytes} bytes.")
    if _HTML_PAGE.match(xml):
        raise parse_error(
            f'it is an HTML page; wrap the page in HTMLQuestion: <HTMLQuestion xmlns="{SCHEMAS}2011-11-11/'
            'HTMLQuestion.xsd"><HTMLContent><![CDATA[ the page ]]></HTMLContent><FrameHeight>0</FrameHeight>'
            "</HTMLQuestion>"
        )
    try:
        root: Element = SafeTree.fromstring(xml, forbid_dtd=True)
    except DefusedXmlException as error:
        raise parse_error("it has a DTD or entities of its own; write it without") from error
    except (ParseError, ValueError, LookupError) as error:
        raise parse_error(f"it is not well-formed XML ({error})") from error
    return root


def parse_error(why: str) -> Refusal:
    """XML that is not what the schema asks for, with the protocol's own beginning of the sentence."""
    return Refusal("XMLParseError", f"There was an error parsing the XML question or answer data: {why}.")


def printable(text: str) -> str:
    """Text with the characters that XML 1.0 cannot carry replaced, so that no answer is lost to them."""
    return _UNPRINTABLE.sub("\ufffd", text)


_PLAIN = frozenset({"align", "dir", "lang", "title", "valign"})
_BARE = (
    "abbr acronym address b bdo big br caption center cite code dd dfn div dl dt em h1 h2 h3 h4 h5 h6 i kbd "
    "p s samp small span strike strong sub sup tt u var"
)
_CELL = "abbr axis bgcolor char charoff colspan headers height nowrap rowspan scope width"
#: What may stand in FormattedContent: element → its attributes beside those that all have. MTurk's own list,
#: and elements that do as little.
ALLOWED: dict[str, frozenset[str]] = {
    **dict.fromkeys(_BARE.split(), frozenset()),
    **{
        element: frozenset(attributes.split())
        for element, attributes in {
            "a": "accesskey charset coords href hreflang name rel rev shape tabindex target type",
            "area": "accesskey alt coords href nohref shape tabindex target",
            "blockquote": "cite",
            "col": "char charoff span width",
            "colgroup": "char charoff span width",
            "del": "cite datetime",
            "font": "color face size",
            "hr": "noshade size width",
            "img": "alt border height hspace ismap longdesc src usemap vspace width",
            "ins": "cite datetime",
            "li": "type value",
            "map": "name",
            "ol": "compact start type",
            "pre": "width",
            "q": "cite",
            "table": "bgcolor border cellpadding cellspacing frame rules summary width",
            "tbody": "char charoff",
            "td": _CELL,
            "tfoot": "char charoff",
            "th": _CELL,
            "thead": "char charoff",
            "tr": "bgcolor char charoff",
            "ul": "compact type",
        }.items()
    },
}
#: Taken, as MTurk took them, and not drawn: they act on the page around, or name addresses for programs.
_DROPPED = frozenset(
    {"accesskey", "charset", "cite", "ismap", "longdesc", "rel", "rev", "tabindex", "target"}
)
_NAME = re.compile(r"[A-Za-z][\w.:-]{0,99}")
#: What MTurk took beside http and https; of these only mail is led to.
_OTHER_SCHEMES = frozenset({"ftp", "gopher", "news", "nntp", "telnet"})
_ENTITY = re.compile(r"&([A-Za-z][A-Za-z0-9]*;)")
_OF_XML = frozenset({"amp;", "lt;", "gt;", "quot;", "apos;"})


def formatted(xhtml: str) -> str:
    """HTML of FormattedContent that is safe to draw; raises Refusal naming what may not stand in it."""
    try:
        root: Element = SafeTree.fromstring(f"<div>{_ENTITY.sub(_character, xhtml)}</div>", forbid_dtd=True)
    except (ParseError, DefusedXmlException, ValueError) as error:
        raise _refusal(f"it is not well-formed XHTML ({error})") from error
    for element in root.iter():
        _check(element)
    try:
        return tostring(root, encoding="unicode", method="html")
    except RecursionError as error:
        raise _refusal("its elements are nested too deeply") from error


def is_address(url: str) -> bool:
    """True for an http or https address that a page may load or lead to."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)


def _character(match: re.Match[str]) -> str:
    name = match[1]
    return match[0] if name in _OF_XML else html5.get(name, match[0])


def _check(element: Element) -> None:
    if not isinstance(element.tag, str) or element.tag not in ALLOWED:
        raise _refusal(f"<{str(element.tag)[:40]}> may not stand in FormattedContent")
    for name, value in list(element.attrib.items()):
        if name not in ALLOWED[element.tag] | _PLAIN:
            raise _refusal(f"<{element.tag}> may not have the attribute {name[:40]!r}")
        if name in _DROPPED:
            del element.attrib[name]
        elif name == "src" and not is_address(value):
            raise _refusal(f"{name}={value[:80]!r} is not an http or https address")
        elif (name == "name" and not _NAME.fullmatch(value)) or (
            name == "usemap" and not _NAME.fullmatch(value.removeprefix("#"))
        ):
            raise _refusal(f"{name}={value[:80]!r} is not a name")
    if "href" in element.attrib:
        _check_link(element, element.attrib["href"])
    if element.tag == "map" and not element.get("name"):
        raise _refusal("<map> needs a name")


def _check_link(element: Element, address: str) -> None:
    """Have a link open beside the page; one to a place on the page stays there."""
    scheme = address.partition(":")[0].lower()
    if address.startswith("#") and _NAME.fullmatch(address[1:]):
        return
    if scheme in _OTHER_SCHEMES:
        del element.attrib["href"]
    elif scheme != "mailto" and not is_address(address):
        raise _refusal(f"href={address[:80]!r} is not an http or https address")
    else:
        element.attrib |= {"target": "_blank", "rel": "noopener noreferrer"}


def _refusal(why: str) -> Refusal:
    return Refusal("XHTMLParseError", f"There was an error parsing the XHTML of FormattedContent: {why}.")


VERSIONS = ("2005-10-01", "2017-11-06")
#: Tags of the root element, by their namespace.
ROOTS = {f"{{{SCHEMAS}{version}/QuestionForm.xsd}}QuestionForm" for version in VERSIONS}
STYLES = ("radiobutton", "checkbox", "list", "dropdown", "combobox", "multichooser")
MAX_IDENTIFIER = 128


@dataclass(frozen=True, slots=True)
class Content:
    """Something to look at. `text` of titles and texts, `html` safe to draw, `url` with `alt` of media."""

    kind: Literal["title", "text", "list", "formatted", "image", "audio", "video", "link"]
    text: str = ""
    items: tuple[str, ...] = ()
    html: str = ""
    url: str = ""
    alt: str = ""
    mime: str = ""
    width: int = 0
    height: int = 0


@dataclass(frozen=True, slots=True)
class Pattern:
    """A regular expression that a text has to match, and the words that the worker reads if not.

    It is the requester's and may run for hours, so it is for the worker's browser, never for this server.
    """

    source: str
    flags: str
    error: str


@dataclass(frozen=True, slots=True)
class FreeText:
    """A text to write. Limits are None where there is none; numbers may be negative and have a fraction."""

    lines: int = 1
    default: str = ""
    min_length: int | None = None
    max_length: int | None = None
    numeric: bool = False
    min_value: float | None = None
    max_value: float | None = None
    patterns: tuple[Pattern, ...] = ()


@dataclass(frozen=True, slots=True)
class Option:
    """One of the selections of a question."""

    identifier: str
    content: Content


@dataclass(frozen=True, slots=True)
class Selection:
    """Options to choose from, and perhaps a text of one's own instead (`other`)."""

    options: tuple[Option, ...]
    style: str
    minimum: int
    maximum: int
    other: FreeText | None = None

    @property
    def several(self) -> bool:
        """More than one may be chosen."""
        return self.maximum > 1


@dataclass(frozen=True, slots=True)
class FileUpload:
    """A file to give, of so many bytes."""

    min_bytes: int
    max_bytes: int


@dataclass(frozen=True, slots=True)
class Question:
    """One question with its answer; `name` is what people call it, perhaps empty."""

    identifier: str
    name: str
    required: bool
    content: tuple[Content, ...]
    answer: FreeText | Selection | FileUpload


@dataclass(frozen=True, slots=True)
class Overview:
    """Instructions between the questions."""

    content: tuple[Content, ...]


@dataclass(frozen=True, slots=True)
class Form:
    """A QuestionForm: overviews and questions in their order."""

    parts: tuple[Overview | Question, ...]
    #: As other questions have it: the frame fits the window.
    frame_height: int = 0

    @property
    def questions(self) -> tuple[Question, ...]:
        """Its questions in order."""
        return tuple(part for part in self.parts if isinstance(part, Question))


def parse_form(xml: str, *, parameter: str = "Question") -> Form:
    """Read a QuestionForm that came in a parameter; raises Refusal naming what is wrong and where."""
    root = root_of(xml, parameter=parameter)
    if root.tag not in ROOTS:
        raise parse_error(f"its root is {root.tag}; expected QuestionForm in one of {sorted(ROOTS)}")
    form = form_of(root)
    if any(isinstance(question.answer, FileUpload) for question in form.questions):
        raise Refusal("NotSupported", "A Test takes no files; ask for them in the Question of a HIT.")
    return form


def form_of(root: Element) -> Form:
    """The form below a QuestionForm element; raises Refusal naming what is wrong and where."""
    parts = tuple(_part(element) for element in root)
    questions = [part.identifier for part in parts if isinstance(part, Question)]
    if not questions:
        raise parse_error("a QuestionForm needs at least one Question")
    for identifier in questions:
        if questions.count(identifier) > 1:
            raise parse_error(f"the QuestionIdentifier {identifier!r} occurs twice")
    return Form(parts=parts)


def _part(element: Element) -> Overview | Question:
    name = _name(element)
    if name == "Overview":
        return Overview(content=_contents(element))
    if name != "Question":
        raise parse_error(f"<{name}> stands where an Overview or a Question is expected")
    inside = _children(element, needed={"QuestionIdentifier", "QuestionContent", "AnswerSpecification"})
    identifier = _text(inside["QuestionIdentifier"])
    if not identifier or len(identifier) > MAX_IDENTIFIER:
        raise parse_error(f"a QuestionIdentifier has 1 to {MAX_IDENTIFIER} characters, not {len(identifier)}")
    try:
        return Question(
            identifier=identifier,
            name=_text(inside.get("DisplayName")),
            required=_boolean(inside.get("IsRequired")),
            content=_contents(inside["QuestionContent"]),
            answer=_answer(inside["AnswerSpecification"]),
        )
    except Refusal as refusal:
        sentence = refusal.message.rstrip(".")
        raise Refusal(refusal.code, f"{sentence}, in the question {identifier!r}.") from refusal


# Content


def _contents(element: Element) -> tuple[Content, ...]:
    if not len(element):
        raise parse_error(f"{_name(element)} is empty")
    return tuple(_content(child) for child in element)


def _content(element: Element) -> Content:
    name = _name(element)
    read = _KINDS.get(name)
    if read is None:
        raise parse_error(f"<{name}> is not a kind of content")
    return read(element)


def _list(element: Element) -> Content:
    if not len(element) or any(_name(child) != "ListItem" for child in element):
        raise parse_error("a List consists of ListItem elements")
    return Content(kind="list", items=tuple(_text(child) for child in element))


def _binary(element: Element) -> Content:
    embedded = _name(element) == "EmbeddedBinary"
    mime_name = "EmbeddedMimeType" if embedded else "MimeType"
    inside = _children(element, needed={mime_name, "DataURL", "AltText"})
    mime = _children(inside[mime_name], needed={"Type"})
    kind, subtype = _text(mime["Type"]).lower(), _text(mime.get("SubType")).lower()
    if not re.fullmatch(r"[a-z0-9.+-]{0,80}", subtype):
        raise parse_error("SubType is not the second part of a MIME type")
    url = _text(inside["DataURL"])
    if not is_address(url):
        raise parse_error(f"DataURL {url[:80]!r} is not an http or https address")
    if kind not in ("image", "audio", "video") and (kind, subtype) != ("application", "pdf"):
        raise Refusal(
            "NotSupported",
            f"This marketplace shows images, audio, video and links to PDF files; {kind or 'nothing'!r} "
            "is not among them.",
        )
    return Content(
        kind="link" if kind == "application" else kind,  # type: ignore[arg-type]  # checked above
        url=url,
        alt=_text(inside["AltText"]),
        mime=f"{kind}/{subtype}" if subtype else "",
        width=_count(inside.get("Width"), 0),
        height=_count(inside.get("Height"), 0),
    )


def _application(element: Element) -> Content:
    raise Refusal(
        "NotSupported",
        "This marketplace does not show Application (Java applets and Flash), which browsers no longer run; "
        "use an HTMLQuestion.",
    )


_KINDS: dict[str, Callable[[Element], Content]] = {
    "Title": lambda element: Content(kind="title", text=_text(element)),
    "Text": lambda element: Content(kind="text", text=_text(element)),
    "List": _list,
    "Binary": _binary,
    "EmbeddedBinary": _binary,
    "FormattedContent": lambda element: Content(kind="formatted", html=formatted(element.text or "")),
    "Application": _application,
}


# Answers


#: What MTurk took at most.
MAX_FILE_BYTES = 2_000_000_000


def _answer(element: Element) -> FreeText | Selection | FileUpload:
    if len(element) != 1:
        raise parse_error("an AnswerSpecification holds exactly one kind of answer")
    kind, name = element[0], _name(element[0])
    if name == "FileUploadAnswer":
        return _file_upload(kind)
    if name == "FreeTextAnswer":
        return _free_text(kind)
    if name == "SelectionAnswer":
        return _selection(kind)
    raise parse_error(f"<{name}> is not a kind of answer")


def _file_upload(element: Element) -> FileUpload:
    inside = _children(element, needed={"MaxFileSizeInBytes", "MinFileSizeInBytes"})
    least, most = (_bytes(inside[f"{name}FileSizeInBytes"]) for name in ("Min", "Max"))
    if least > most:
        raise parse_error("MinFileSizeInBytes is greater than MaxFileSizeInBytes")
    return FileUpload(min_bytes=least, max_bytes=most)


def _bytes(element: Element) -> int:
    text = _text(element)
    if not (text.isascii() and text.isdigit() and len(text) <= 10 and int(text) <= MAX_FILE_BYTES):
        raise parse_error(f"{_name(element)} is {text[:20]!r}, not a number from 0 to {MAX_FILE_BYTES}")
    return int(text)


def _free_text(element: Element) -> FreeText:
    inside = _children(element)
    limits = inside.get("Constraints")
    numeric, length = (_first(limits, name) for name in ("IsNumeric", "Length"))
    answer = FreeText(
        lines=min(max(_count(inside.get("NumberOfLinesSuggestion"), 1), 1), 60),
        default=_text(inside.get("DefaultText"), strip=False),
        numeric=numeric is not None,
        min_value=_number(numeric, "minValue"),
        max_value=_number(numeric, "maxValue"),
        min_length=_length(length, "minLength"),
        max_length=_length(length, "maxLength"),
        patterns=tuple(_pattern(child) for child in limits or () if _name(child) == "AnswerFormatRegex"),
    )
    for child in limits if limits is not None else ():
        if _name(child) not in ("IsNumeric", "Length", "AnswerFormatRegex"):
            raise parse_error(f"<{_name(child)}> is not a constraint")
    if answer.min_value is not None and answer.max_value is not None and answer.min_value > answer.max_value:
        raise parse_error("minValue is greater than maxValue")
    if (
        answer.min_length is not None
        and answer.max_length is not None
        and answer.min_length > answer.max_length
    ):
        raise parse_error("minLength is greater than maxLength")
    return answer


def _pattern(element: Element) -> Pattern:
    source = element.get("regex", "")
    flags = element.get("flags", "")
    if set(flags) - set("gim"):
        raise parse_error(f"flags {flags[:20]!r} of AnswerFormatRegex are not among i, m and g")
    if len(source) > 1000:
        raise parse_error("the regex of AnswerFormatRegex is longer than 1000 characters")
    return Pattern(
        source=source, flags="".join(sorted(set(flags))), error=element.get("errorText", "").strip()
    )


def _selection(element: Element) -> Selection:
    inside = _children(element, needed={"Selections"})
    options: list[Option] = []
    other: FreeText | None = None
    for child in inside["Selections"]:
        if _name(child) == "OtherSelection" and other is None:
            other = _free_text(child)
        elif _name(child) == "Selection" and other is None:
            options.append(_option(child))
        else:
            raise parse_error("Selections holds Selection elements and perhaps one OtherSelection, the last")
    if not options:
        raise parse_error("Selections needs at least one Selection")
    if len({option.identifier for option in options}) < len(options):
        raise parse_error("a SelectionIdentifier occurs twice")
    style = _text(inside.get("StyleSuggestion")).lower()
    if style and style not in STYLES:
        raise parse_error(f"StyleSuggestion {style[:40]!r} is not one of {', '.join(STYLES)}")
    minimum = _count(inside.get("MinSelectionCount"), 0)
    maximum = _count(inside.get("MaxSelectionCount"), 1)
    if not (minimum <= maximum and maximum >= 1 and minimum <= len(options) + bool(other)):
        raise parse_error("MinSelectionCount, MaxSelectionCount and the number of selections do not fit")
    return Selection(tuple(options), style, minimum, maximum, other)


def _option(element: Element) -> Option:
    identifiers = [child for child in element if _name(child) == "SelectionIdentifier"]
    contents = [child for child in element if _name(child) != "SelectionIdentifier"]
    if len(identifiers) != 1 or len(contents) != 1:
        raise parse_error("a Selection has one SelectionIdentifier and one content")
    if _name(contents[0]) not in ("Text", "FormattedContent", "Binary"):
        raise parse_error(f"<{_name(contents[0])}> cannot be the content of a Selection")
    identifier = _text(identifiers[0])
    if not identifier or len(identifier) > MAX_IDENTIFIER:
        raise parse_error(f"a SelectionIdentifier has 1 to {MAX_IDENTIFIER} characters")
    return Option(identifier=identifier, content=_content(contents[0]))


# Elements


def _name(element: Element) -> str:
    """Tag without namespace. Everything below the root is read by this; the root's own is checked."""
    return str(element.tag).rpartition("}")[2]


def _children(element: Element, *, needed: Set[str] = frozenset()) -> dict[str, Element]:
    children = {_name(child): child for child in element}
    if len(children) < len(element):
        raise parse_error(f"{_name(element)} has an element twice that may occur once")
    if missing := sorted(needed - set(children)):
        raise parse_error(f"{_name(element)} lacks {' and '.join(missing)}")
    return children


def _first(element: Element | None, name: str) -> Element | None:
    children = () if element is None else element
    return next((child for child in children if _name(child) == name), None)


def _text(element: Element | None, *, strip: bool = True) -> str:
    if element is None:
        return ""
    if len(element):
        raise parse_error(f"{_name(element)} contains elements where text is expected")
    text = element.text or ""
    return text.strip() if strip else text


def _boolean(element: Element | None) -> bool:
    text = _text(element)
    if text not in ("", "true", "false", "1", "0"):
        raise parse_error(f"{text[:20]!r} is neither true nor false")
    return text in ("true", "1")


def _count(element: Element | None, default: int) -> int:
    text = _text(element)
    if element is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) <= 6):
        raise parse_error(f"{_name(element)} is {text[:20]!r}, not a whole number")
    return int(text)


def _number(element: Element | None, name: str) -> float | None:
    text = element.get(name) if element is not None else None
    if text is None:
        return None
    if not re.fullmatch(r"\s*[-+]?[0-9]{1,15}(\.[0-9]{1,15})?\s*", text):
        raise parse_error(f"{name} is {text[:20]!r}, not a number")
    return float(text)


def _length(element: Element | None, name: str) -> int | None:
    number = _number(element, name)
    if number is not None and (number < 0 or number != int(number)):
        raise parse_error(f"{name} is not a whole number")
    return None if number is None else int(number)
