"""The Croissant description of a release: `croissant.json`, JSON-LD for tools that look for data sets.

Conforms to Croissant 1.0 (MLCommons, https://docs.mlcommons.org/croissant/docs/croissant-spec.html). Every
file with data is a FileObject with its digest; every table is a RecordSet over its files in the best format,
with the splits as a record set of their own. Addresses are relative: the description lies beside the files.
"""

import json
from collections.abc import Iterator
from typing import Any

from releases.datacards.escapes import plain
from releases.datacards.facts import Facts, File
from releases.datacards.head import address_of, bibtex_entry, configurations, licence_named, loaded
from releases.tables import RECORDS, SPLITS, Kind, Table

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
_TYPES = {
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
    found: Json = {
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
    return {name: value for name, value in found.items() if value not in ("", [])}


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
    there = f"{table.name}/{name}"
    field: Json = {"@type": "cr:Field", "@id": there, "name": there, "description": meaning}
    source = {"fileSet": {"@id": f"{table.name}-files"}, "extract": {"column": name}}
    if name == "split":
        field["references"] = {"field": {"@id": "splits/name"}}
    if kind in RECORDS and nested:
        field["repeated"] = True
        field["subField"] = list(_inner(there, source, kind))
        return field
    listed = kind in (Kind.INTEGERS, Kind.NAMES)
    field["dataType"] = _TYPES.get(kind, "sc:Text") if nested or not listed else "sc:Text"
    if listed and nested:
        field["repeated"] = True
    field["source"] = source
    return field


def _inner(there: str, source: Json, kind: Kind) -> Iterator[Json]:
    """The fields of the records in a column.

    Records inside of records are left out: readers of Croissant 1.0 cannot follow a list in a list. They are
    in a table of their own.
    """
    for name, inner in RECORDS[kind]:
        if inner not in RECORDS:
            yield {
                "@type": "cr:Field",
                "@id": f"{there}/{name}",
                "name": f"{there}/{name}",
                "dataType": _TYPES[inner],
                "source": source | {"transform": {"jsonPath": name}},
            }
