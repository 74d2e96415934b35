"""How a release is found, cited and licensed: head of the data card, citation, licences, Croissant.

No database is read here: facts in, texts out.
"""

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from releases.facts import Facts, File
from releases.tables import RECORDS, SPLITS, Kind, Table

# Texts of people inside of YAML, Markdown and BibTeX, where none of their signs may mean anything.

#: Signs that turn the direction of what follows them, or are invisible: no line of ours needs them.
_INVISIBLE = re.compile("[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")
_MARKDOWN = re.compile(r"([\\`*_\[\]|~$])")
#: What begins a heading, a list, a quotation or a rule where it comes first.
_FIRST = re.compile(r"(\d{1,9}(?=[.)])|(?=[#+=-]|&gt;))")
_HTML = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_TEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "%": r"\%",
    "#": r"\#",
    "&": r"\&",
    "$": r"\$",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}
#: What YAML takes for no printable sign, or for the end of a line.
_NOT_IN_YAML = re.compile("[\u007f-\u009f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]")


def plain(text: str) -> str:
    """The text on one line, without control characters and signs that turn directions."""
    text = "".join(" " if unicodedata.category(sign) == "Cc" else sign for sign in text)
    return " ".join(_INVISIBLE.sub("", text).split())


def yaml(value: str | float | bool) -> str:
    """A value of one line in YAML; texts stand in double quotes, as in JSON."""
    return _NOT_IN_YAML.sub(_escaped, json.dumps(value, ensure_ascii=False))


def _escaped(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


def markdown(text: str) -> str:
    """The text as words inside of a line, or a cell of a table."""
    marked = _MARKDOWN.sub(r"\\\1", plain(text))
    return "".join(_HTML.get(sign, sign) for sign in marked)


def paragraphs(text: str) -> str:
    """A text of one paragraph or several, with a blank line between them."""
    parts = re.split(r"\n\s*\n", text.replace("\r\n", "\n").replace("\r", "\n"))
    return "\n\n".join(_paragraph(markdown(part)) for part in parts if plain(part))


def _paragraph(marked: str) -> str:
    begins = _FIRST.match(marked)
    return f"{begins[0]}\\{marked[begins.end() :]}" if begins else marked


def block(text: str, language: str = "") -> str:
    """A block of code whose fence is longer than any run of backticks in it."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def table(
    header: tuple[str, ...], rows: Sequence[tuple[str, ...]], numbers: frozenset[int] = frozenset()
) -> str:
    """A table; cells are Markdown already, columns in `numbers` are set to the right."""
    rule = ("---:" if place in numbers else "---" for place in range(len(header)))
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (header, tuple(rule), *rows))


def bibtex(text: str) -> str:
    """A value of BibTeX, between braces."""
    return "{" + "".join(_TEX.get(sign, sign) for sign in plain(text)) + "}"


# How to cite a release: `CITATION.cff`, and the same as BibTeX.

_FAMILY_FIRST = re.compile(r"(?P<family>[^,]+),\s*(?P<given>[^,]+)")
_WEB = re.compile(r"https?://[^\s<>\"{}|\\^`]+", re.IGNORECASE)


def citation(facts: Facts) -> str:
    """The citation as YAML of the Citation File Format 1.2.0."""
    return "\n".join(_citation_lines(facts)) + "\n"


def _citation_lines(facts: Facts) -> Iterator[str]:
    yield "cff-version: 1.2.0"
    yield 'message: "If you use this data set, please cite it as below."'
    yield "type: dataset"
    yield f"title: {yaml(plain(facts.title))}"
    yield f"version: {yaml(plain(facts.version))}"
    if facts.answer("summary"):
        yield f"abstract: {yaml(plain(facts.answer('summary')))}"
    yield "authors:"
    for author in facts.authors or (f"The authors of {facts.title}",):
        yield from _author(plain(author), is_author=bool(facts.authors))
    licence = licence_named(facts.licence)
    if licence is not None:
        yield f"license: {licence.spdx}"
    if address := address_of(facts):
        yield f"url: {yaml(address)}"
    if facts.answer("citation"):
        yield f"notes: {yaml(plain(facts.answer('citation')))}"


def _author(name: str, *, is_author: bool) -> Iterator[str]:
    """`Family, Given` is a person; any other name stays as it is, for who knows where it parts."""
    person = _FAMILY_FIRST.fullmatch(name) if is_author else None
    if person is None:
        yield f"- name: {yaml(name)}"
        return
    yield f"- family-names: {yaml(person['family'].strip())}"
    yield f"  given-names: {yaml(person['given'].strip())}"


def address_of(facts: Facts) -> str:
    """The data set's address on the web, or nothing: other schemes are never linked to."""
    url = facts.answer("url")
    return url if _WEB.fullmatch(url) else ""


def bibtex_entry(facts: Facts) -> str:
    """The release as an entry for BibTeX; the year is that in which people finished, if it is known."""
    key = re.sub(r"[^A-Za-z0-9_-]", "", facts.slug) or "dataset"
    values = {
        "title": bibtex(facts.title),
        "author": bibtex(" and ".join(facts.authors)) if facts.authors else "",
        "year": bibtex(facts.collected[1][:4]) if facts.collected[1] else "",
        "version": bibtex(facts.version),
        "url": bibtex(address_of(facts)) if address_of(facts) else "",
        "note": bibtex(facts.answer("citation")) if facts.answer("citation") else "",
    }
    lines = [f"  {name} = {value}," for name, value in values.items() if value]
    return "\n".join([f"@misc{{{key},", *lines, "}"])


#: Formats that `datasets` reads, the best first: Parquet knows its types.
LOADED = ("parquet", "jsonl", "csv")
_SIZES = (
    (1_000, "n<1K"),
    (10_000, "1K<n<10K"),
    (100_000, "10K<n<100K"),
    (1_000_000, "100K<n<1M"),
    (10_000_000, "1M<n<10M"),
)
_LARGEST = "10M<n<100M"
_TYPES = {Kind.TEXT: "string", Kind.INTEGER: "int64", Kind.NUMBER: "float64", Kind.FLAG: "bool"}
_LISTS = {Kind.INTEGERS: "int64", Kind.NAMES: "string"}
_LANGUAGE = re.compile(r"[a-z]{2,3}")


def loaded(facts: Facts) -> str:
    """The format that a folder of the release is opened from; empty where none of them was written."""
    written = {each.format for each in facts.files if each.table}
    return next((format for format in LOADED if format in written), "")


def configurations(facts: Facts) -> tuple[Table, ...]:
    """The tables that have files, in their order; the first is the default."""
    return tuple(table for table in facts.tables if facts.files_of(table.name, loaded(facts)))


def head(facts: Facts) -> str:
    """The head between its lines of hyphens."""
    return "\n".join(["---", *_lines(facts), "---"])


def _lines(facts: Facts) -> Iterator[str]:
    yield f"pretty_name: {yaml(plain(facts.title))}"
    yield from _language(facts.language)
    yield from _licence(facts.licence)
    yield from _list("size_categories", [_size(facts.size)])
    scored = bool(facts.rows.get("scores"))
    yield from _list("task_categories", ["question-answering", *(["text-classification"] if scored else [])])
    if scored:
        yield from _list("task_ids", ["text-scoring"])
    yield from _list("tags", _tags(facts))
    tables = configurations(facts)
    if tables:
        yield from _configs(facts, tables)
        if loaded(facts) != "csv":
            yield from _features(tables)


def _list(name: str, values: list[str]) -> Iterator[str]:
    yield f"{name}:"
    for value in values:
        yield f"- {yaml(value)}"


def _language(tag: str) -> Iterator[str]:
    primary = tag.replace("_", "-").split("-")[0].lower()
    if _LANGUAGE.fullmatch(primary):
        yield from _list("language", [primary])
    if primary != tag:
        yield from _list("language_bcp47", [plain(tag)])


def _licence(name: str) -> Iterator[str]:
    licence = licence_named(name)
    if licence is not None:
        yield f"license: {licence.hub}"
    elif plain(name):
        yield "license: other"
        yield f"license_name: {yaml(plain(name))}"
    else:
        yield "license: unknown"


def _size(rows: int) -> str:
    return next((category for below, category in _SIZES if rows < below), _LARGEST)


def _tags(facts: Facts) -> list[str]:
    tags = ["crowdsourcing"]
    if facts.rows.get("references"):
        tags.append("answer-distillation")
    if facts.rows.get("scores"):
        tags.append("human-evaluation")
    if facts.simulated:
        tags.append("simulated")
    if facts.imported:
        tags.append("imported")
    return tags


def _configs(facts: Facts, tables: tuple[Table, ...]) -> Iterator[str]:
    yield "configs:"
    for place, table in enumerate(tables):
        yield f"- config_name: {table.name}"
        if not place:
            yield "  default: true"
        yield "  data_files:"
        for file in facts.files_of(table.name, loaded(facts)):
            yield f"  - split: {file.split}"
            yield f"    path: {yaml(file.path)}"


def _features(tables: tuple[Table, ...]) -> Iterator[str]:
    """The types of all columns, so that a column that happens to be empty keeps its own."""
    yield "dataset_info:"
    for table in tables:
        yield f"- config_name: {table.name}"
        yield "  features:"
        for column in table.columns:
            yield from _feature(column.name, column.kind, "  ")


def _feature(name: str, kind: Kind, indent: str) -> Iterator[str]:
    yield f"{indent}- name: {name}"
    if kind in _TYPES:
        yield f"{indent}  dtype: {_TYPES[kind]}"
    elif kind in _LISTS:
        yield f"{indent}  list: {_LISTS[kind]}"
    else:
        yield f"{indent}  list:"
        for inner, inner_kind in RECORDS[kind]:
            yield from _feature(inner, inner_kind, f"{indent}  ")


# Licences by the names that people give them, with those of SPDX and the Hub, and the address of the text.


@dataclass(frozen=True, slots=True)
class Licence:
    """A licence that others know. `hub` is the Hub's name of it, `spdx` SPDX's."""

    spdx: str
    hub: str
    url: str


_CC = "https://creativecommons.org/licenses"
_KNOWN = tuple(
    Licence(*row)
    for row in (
        ("CC-BY-4.0", "cc-by-4.0", f"{_CC}/by/4.0/"),
        ("CC-BY-3.0", "cc-by-3.0", f"{_CC}/by/3.0/"),
        ("CC-BY-SA-4.0", "cc-by-sa-4.0", f"{_CC}/by-sa/4.0/"),
        ("CC-BY-SA-3.0", "cc-by-sa-3.0", f"{_CC}/by-sa/3.0/"),
        ("CC-BY-NC-4.0", "cc-by-nc-4.0", f"{_CC}/by-nc/4.0/"),
        ("CC-BY-NC-SA-4.0", "cc-by-nc-sa-4.0", f"{_CC}/by-nc-sa/4.0/"),
        ("CC-BY-ND-4.0", "cc-by-nd-4.0", f"{_CC}/by-nd/4.0/"),
        ("CC-BY-NC-ND-4.0", "cc-by-nc-nd-4.0", f"{_CC}/by-nc-nd/4.0/"),
        ("CC0-1.0", "cc0-1.0", "https://creativecommons.org/publicdomain/zero/1.0/"),
        ("Apache-2.0", "apache-2.0", "https://www.apache.org/licenses/LICENSE-2.0"),
        ("MIT", "mit", "https://opensource.org/license/mit"),
        ("ODbL-1.0", "odbl", "https://opendatacommons.org/licenses/odbl/1-0/"),
        ("ODC-By-1.0", "odc-by", "https://opendatacommons.org/licenses/by/1-0/"),
        ("PDDL-1.0", "pddl", "https://opendatacommons.org/licenses/pddl/1-0/"),
        ("CDLA-Permissive-2.0", "cdla-permissive-2.0", "https://cdla.dev/permissive-2-0/"),
    )
)
_NOT_LETTERS = re.compile(r"[\s_]+")


def licence_named(name: str) -> Licence | None:
    """The licence that a name means (`CC BY 4.0`, `cc-by-4.0`), or None for one that is not known."""
    key = _NOT_LETTERS.sub("-", name.strip()).casefold()
    return next((each for each in _KNOWN if key in (each.spdx.casefold(), each.hub)), None)


# The Croissant description of a release: `croissant.json`, JSON-LD for tools that look for data sets.
#
# Conforms to Croissant 1.0 (MLCommons, https://docs.mlcommons.org/croissant/docs/croissant-spec.html). Every
# file with data is a FileObject with its digest; every table is a RecordSet over its files in the best
# format, with the splits as a record set of their own. Addresses are relative: the description lies beside
# the files.

CONFORMS_TO = "http://mlcommons.org/croissant/1.0"
Json = dict[str, Any]
#: The context that the specification prints.
_CONTEXT: Json = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataBiases": "cr:dataBiases",
    "dataCollection": "cr:dataCollection",
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "personalSensitiveInformation": "cr:personalSensitiveInformation",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
_ENCODINGS = {"parquet": "application/x-parquet", "jsonl": "application/jsonlines", "csv": "text/csv"}
_ENDINGS = {"json": "application/json", "jsonl": "application/jsonlines"}
_DATA_TYPES = {
    Kind.TEXT: "sc:Text",
    Kind.INTEGER: "sc:Integer",
    Kind.NUMBER: "sc:Float",
    Kind.FLAG: "sc:Boolean",
    Kind.INTEGERS: "sc:Integer",
    Kind.NAMES: "sc:Text",
}
_SPLIT_URL = {
    "train": "cr:TrainingSplit",
    "validation": "cr:ValidationSplit",
    "test": "cr:TestSplit",
}


def croissant(facts: Facts) -> str:
    """The description as JSON-LD, its keys always in the same order."""
    return json.dumps(_dataset(facts), ensure_ascii=False, indent=2) + "\n"


def _dataset(facts: Facts) -> Json:
    tables = configurations(facts)
    licence = licence_named(facts.licence)
    dataset: Json = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS_TO,
        "name": plain(facts.title),
        "description": _description(facts),
        "version": plain(facts.version),
        "inLanguage": plain(facts.language),
        "license": licence.url if licence else plain(facts.licence),
        "url": address_of(facts),
        "citeAs": bibtex_entry(facts),
        "creator": [{"@type": "sc:Person", "name": plain(name)} for name in facts.authors],
        "keywords": list(_keywords(facts)),
        "isLiveDataset": False,
        "distribution": [_file(each) for each in facts.files] + [_set(facts, each) for each in tables],
        "recordSet": [_splits(), *(_records(facts, each) for each in tables)] if tables else [],
    }
    return {name: value for name, value in dataset.items() if value not in ("", [])}


def _description(facts: Facts) -> str:
    parts = [plain(facts.answer("summary")) or plain(facts.title)]
    if facts.simulated:
        parts.append("SIMULATED: programs, not people, did work in this data set.")
    if facts.imported is not None:
        parts.append("IMPORTED: the human scores were collected elsewhere.")
    return " ".join(parts)


def _keywords(facts: Facts) -> Iterator[str]:
    yield from ("question answering", "crowdsourcing")
    if facts.rows.get("scores"):
        yield "human evaluation"
    if facts.simulated:
        yield "simulated"


def _file(file: File) -> Json:
    ending = file.path.rpartition(".")[2]
    return {
        "@type": "cr:FileObject",
        "@id": file.path,
        "name": file.path,
        "contentUrl": file.path,
        "contentSize": f"{file.bytes} B",
        "encodingFormat": _ENCODINGS.get(file.format) or _ENDINGS.get(ending, "text/plain"),
        "sha256": file.sha256,
    }


def _set(facts: Facts, table: Table) -> Json:
    """The files of a table, one per split."""
    format = loaded(facts)
    return {
        "@type": "cr:FileSet",
        "@id": f"{table.name}-files",
        "name": f"{table.name}-files",
        "description": f"The files of the table {table.name}, one per split.",
        "encodingFormat": _ENCODINGS[format],
        "includes": f"{format}/{table.name}-*.{format}",
    }


def _splits() -> Json:
    return {
        "@type": "cr:RecordSet",
        "@id": "splits",
        "name": "splits",
        "dataType": "cr:Split",
        "key": {"@id": "splits/name"},
        "field": [
            {"@type": "cr:Field", "@id": "splits/name", "name": "name", "dataType": "sc:Text"},
            {"@type": "cr:Field", "@id": "splits/url", "name": "url", "dataType": "sc:URL"},
        ],
        "data": [
            {"splits/name": split, "splits/url": _SPLIT_URL[split].replace("cr:", _CONTEXT["cr"])}
            for split in SPLITS
        ],
    }


def _records(facts: Facts, table: Table) -> Json:
    nested = loaded(facts) != "csv"
    return {
        "@type": "cr:RecordSet",
        "@id": table.name,
        "name": table.name,
        "description": table.meaning,
        "field": [_field(table, each.name, each.kind, each.meaning, nested=nested) for each in table.columns],
    }


def _field(table: Table, name: str, kind: Kind, meaning: str, *, nested: bool) -> Json:
    """A column; one that is a list holds JSON in CSV and records elsewhere."""
    field_id = f"{table.name}/{name}"
    field: Json = {"@type": "cr:Field", "@id": field_id, "name": field_id, "description": meaning}
    source = {"fileSet": {"@id": f"{table.name}-files"}, "extract": {"column": name}}
    if name == "split":
        field["references"] = {"field": {"@id": "splits/name"}}
    if kind in RECORDS and nested:
        field["repeated"] = True
        field["subField"] = list(_inner(field_id, source, kind))
        return field
    is_list = kind in (Kind.INTEGERS, Kind.NAMES)
    field["dataType"] = _DATA_TYPES.get(kind, "sc:Text") if nested or not is_list else "sc:Text"
    if is_list and nested:
        field["repeated"] = True
    field["source"] = source
    return field


def _inner(field_id: str, source: Json, kind: Kind) -> Iterator[Json]:
    """The fields of the records in a column.

    Records inside of records are left out: readers of Croissant 1.0 cannot follow a list in a list. They are
    in a table of their own.
    """
    for name, inner in RECORDS[kind]:
        if inner not in RECORDS:
            yield {
                "@type": "cr:Field",
                "@id": f"{field_id}/{name}",
                "name": f"{field_id}/{name}",
                "dataType": _DATA_TYPES[inner],
                "source": source | {"transform": {"jsonPath": name}},
            }
