"""The original of the tokeniser `ptb`: CoreNLP 3.4.1's PTBTokenizer, in a jar that pycocoevalcap brings."""

import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pycocoevalcap

FOLDER = Path(pycocoevalcap.__path__[0]) / "tokenizer"
JAR = FOLDER / "stanford-corenlp-3.4.1.jar"


def original(texts: Sequence[str]) -> list[list[str]]:
    """Tokens of texts, each read by itself.

    It looks at the next line where a text ends with an abbreviation, so lines of nothing and of a full stop
    stand between texts.
    """
    lines = [line for text in texts for line in (text, "", ".", "")]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "texts"
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        said = subprocess.run(
            [
                *("java", "-Dfile.encoding=UTF-8", "-cp", str(JAR)),
                *("edu.stanford.nlp.process.PTBTokenizer", "-preserveLines", "-lowerCase", str(path)),
            ],
            capture_output=True,
            check=True,
        ).stdout.decode("utf-8")
    found = said.split("\n")[: len(lines) : 4]
    return [line.split(" ") if line else [] for line in found]
