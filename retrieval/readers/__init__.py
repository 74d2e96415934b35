"""Files of passages, one module per format; each fault has its place, its field and a remedy.

    file = open_passages(Path("pages.jsonl.zst"))
    for row in file.rows(): ...
    if file.faults: raise file.refused()

JSONL, CSV, TSV, workbooks, Parquet, MS MARCO's `collection.tsv` and TREC CAR's paragraphs, plain or packed.
Memory stays the same whatever the size of the file.
"""

from core.files.numbered_lines import LONGEST_LINE
from retrieval.readers.file import FORMATS, PassageFile, open_passages
from retrieval.readers.passage_source import LONGEST_TEXT, MOST_FAULTS, Layout, Row

__all__ = [
    "FORMATS",
    "LONGEST_LINE",
    "LONGEST_TEXT",
    "MOST_FAULTS",
    "Layout",
    "PassageFile",
    "Row",
    "open_passages",
]
