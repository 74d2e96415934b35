"""How a release is found, cited and licensed: head of the data card, `CITATION.cff`, BibTeX, licences."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from releases.datacards.escapes import bibtex, plain, yaml
from releases.datacards.facts import Facts
from releases.tables import RECORDS, Kind, Table

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
        yield from _author(plain(author), known=bool(facts.authors))
    known = licence_named(facts.licence)
    if known is not None:
        yield f"license: {known.spdx}"
    if address := address_of(facts):
        yield f"url: {yaml(address)}"
    if facts.answer("citation"):
        yield f"notes: {yaml(plain(facts.answer('citation')))}"


def _author(name: str, *, known: bool) -> Iterator[str]:
    """`Family, Given` is a person; any other name stands as it is, for who knows where it parts."""
    person = _FAMILY_FIRST.fullmatch(name) if known else None
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
    known = licence_named(name)
    if known is not None:
        yield f"license: {known.hub}"
    elif plain(name):
        yield "license: other"
        yield f"license_name: {yaml(plain(name))}"
    else:
        yield "license: unknown"


def _size(rows: int) -> str:
    return next((words for below, words in _SIZES if rows < below), _LARGEST)


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
    wanted = _NOT_LETTERS.sub("-", name.strip()).casefold()
    return next((each for each in _KNOWN if wanted in (each.spdx.casefold(), each.hub)), None)
