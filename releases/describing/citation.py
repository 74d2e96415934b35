"""How to cite a release: `CITATION.cff`, and the same as BibTeX."""

import re
from collections.abc import Iterator

from releases.describing.escapes import bibtex, plain, yaml
from releases.describing.facts import Facts
from releases.describing.licences import licence_named

_FAMILY_FIRST = re.compile(r"(?P<family>[^,]+),\s*(?P<given>[^,]+)")
_WEB = re.compile(r"https?://[^\s<>\"{}|\\^`]+", re.IGNORECASE)


def citation(facts: Facts) -> str:
    """The citation as YAML of the Citation File Format 1.2.0."""
    return "\n".join(_lines(facts)) + "\n"


def _lines(facts: Facts) -> Iterator[str]:
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
