"""Encoders and models so small that a test makes or trains one in a moment. Nothing is downloaded.

encoder = tiny.bert(tmp_path / "encoder", words=["the", "price", ...])
model = tiny.kpqa(tmp_path / "model")  # untrained: its weights mean nothing, and are always the same
model = tiny.kpqa_trained(tmp_path / "model")  # knows that the number after "costs" is the key phrase
"""

import random
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from distillery_learned.metrics.encoders import encoder
from distillery_learned.metrics.pieces import windows
from distillery_learned.training.kpqa_examples import Example
from metrics.model_folders import ModelFolder, write
from metrics.word_spans import cut_words

#: Words with a piece of their own; every other word falls into its letters.
WORDS = (
    *("the", "a", "it", "is", "of", "in", "and", "for", "to", "at", "on", "not", "yes", "no"),
    *("what", "how", "who", "much", "many", "does", "did", "cost", "costs", "weighs", "price", "pays"),
    *("ticket", "book", "apple", "house", "car", "train", "river", "city", "dog", "lamp"),
    *("red", "green", "old", "new", "big", "today", "here", "euros", "grams", "##s", "##ed", "##ing"),
    *map(str, range(10)),
)
_MARKS = ".,;:!?'\"()-/%$€"
LONGEST = 64


def tokenizer(words: Iterable[str] = WORDS, *, longest: int = LONGEST) -> Any:
    """A fast WordPiece tokeniser of lower-case text that knows these words, Latin letters and digits."""
    from transformers import BertTokenizerFast

    letters = [chr(code) for code in (*range(ord("a"), ord("z") + 1), *range(ord("0"), ord("9") + 1))]
    pieces = [*letters, *(f"##{letter}" for letter in letters), *_MARKS, *words]
    vocabulary = dict.fromkeys(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *pieces])
    numbers = {piece: number for number, piece in enumerate(vocabulary)}
    return BertTokenizerFast(vocab=numbers, do_lower_case=True, model_max_length=longest)


def bert(
    folder: Path,
    words: Iterable[str] = WORDS,
    *,
    units: int = 32,
    layers: int = 2,
    longest: int = LONGEST,
    seed: int = 0,
) -> Path:
    """The folder of an untrained BERT, the same bytes for the same arguments."""
    import torch
    from transformers import BertConfig, BertModel

    own = tokenizer(words, longest=longest)
    config = BertConfig(
        vocab_size=len(own),
        hidden_size=units,
        num_hidden_layers=layers,
        num_attention_heads=2,
        intermediate_size=2 * units,
        max_position_embeddings=longest,
        initializer_range=0.1,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = BertModel(config)
    return _saved(folder, model, own)


def roberta(
    folder: Path, texts: Iterable[str] = (" ".join(WORDS),), *, longest: int = LONGEST, seed: int = 0
) -> Path:
    """The folder of an untrained RoBERTa: pieces of bytes with their white space, and no token types."""
    import torch
    from tokenizers import ByteLevelBPETokenizer
    from transformers import RobertaConfig, RobertaModel, RobertaTokenizerFast

    learned = ByteLevelBPETokenizer()
    learned.train_from_iterator(
        texts,
        vocab_size=400,
        min_frequency=1,
        special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"],
        show_progress=False,
    )
    with tempfile.TemporaryDirectory() as held:
        learned.save_model(held)
        own = RobertaTokenizerFast.from_pretrained(held, model_max_length=longest)
    config = RobertaConfig(
        vocab_size=len(own),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=longest + 2,
        initializer_range=0.1,
        type_vocab_size=1,
        pad_token_id=own.pad_token_id,
        bos_token_id=own.bos_token_id,
        eos_token_id=own.eos_token_id,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = RobertaModel(config)
    return _saved(folder, model, own)


def sentence_encoder(folder: Path, words: Iterable[str] = WORDS, *, units: int = 32, seed: int = 0) -> Path:
    """The folder of a sentence-transformers model around the tiny BERT: mean of the pieces, length 1."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer

    with tempfile.TemporaryDirectory() as held:
        base = Transformer(str(bert(Path(held) / "bert", words, units=units, seed=seed)))
        whole = SentenceTransformer(modules=[base, Pooling(units, "mean"), Normalize()], device="cpu")
        whole.save(str(folder), create_model_card=False)
    return folder


def kpqa(
    folder: Path,
    words: Iterable[str] = WORDS,
    *,
    with_question: bool = True,
    units: int = 16,
    longest: int = LONGEST,
    seed: int = 0,
) -> ModelFolder:
    """An untrained keyphrase predictor around the tiny BERT."""
    import torch

    from distillery_learned.metrics.networks import KeyphraseNetwork

    with tempfile.TemporaryDirectory() as held:
        base = encoder(bert(Path(held) / "bert", words, longest=longest, seed=seed))
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            network = KeyphraseNetwork(base.model, units)
        return _written(folder, network.eval(), base.tokenizer, units, longest, with_question=with_question)


def kpqa_trained(
    folder: Path, *, with_question: bool = True, units: int = 16, longest: int = LONGEST, seed: int = 0
) -> ModelFolder:
    """A keyphrase predictor that learned `costs()`; about a second."""
    import torch
    from torch.nn.functional import cross_entropy

    from distillery_learned.metrics.networks import KeyphraseNetwork

    with tempfile.TemporaryDirectory() as held, torch.random.fork_rng(devices=[]), one_thread():
        base = encoder(bert(Path(held) / "bert", longest=longest, seed=seed))
        torch.manual_seed(seed)
        network = KeyphraseNetwork(base.model, units).train()
        optimiser = torch.optim.AdamW(network.parameters(), lr=5e-3)
        examples = costs(480, seed=seed)
        batches = [
            _padded(base.tokenizer, examples[start : start + 8], longest, with_question)
            for start in range(0, len(examples), 8)
        ]
        for _ in range(3):
            for *given, labels in batches:
                loss = cross_entropy(network(*given).flatten(0, 1), labels.flatten())
                optimiser.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
                optimiser.step()
        return _written(folder, network.eval(), base.tokenizer, units, longest, with_question=with_question)


@contextmanager
def one_thread() -> Iterator[None]:
    """Steps this small on several threads: they only wait for each other, for minutes on a busy machine."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def costs(count: int, *, seed: int = 0) -> list[Example]:
    """Examples of a pattern: the number after "costs" is the key phrase, that after "weighs" is not.

    In two thirds of the answers there are both, in the others one of them; an answer without a price has no
    key phrase.
    """
    drawn = random.Random(seed)
    found = []
    for number in range(count):
        thing = drawn.choice(("ticket", "book", "apple", "house", "car", "lamp"))
        price, weight = drawn.randrange(10, 1000), drawn.randrange(10, 1000)
        parts = [f"costs {price} euros", f"weighs {weight} grams"]
        drawn.shuffle(parts)
        parts = drawn.choice([parts, parts, parts[:1]])
        old = drawn.choice(("old", "new", "red", "green", "big"))
        answer = f"The {old} {thing} {' and '.join(parts)} {drawn.choice(('here', 'today'))}."
        begin = answer.find(f"costs {price}") + len("costs ")
        spans = ((begin, begin + len(str(price))),) if "costs" in answer else ()
        found.append(Example(f"How much does the {thing} cost?", answer, spans, "made", f"{number // 2}"))
    return found


def literal_loss(
    network: Any, tokens: Any, examples: Sequence[Example], longest: int, *, with_question: bool = True
) -> Any:
    """Cross entropy, mean over the words of all answers, pair by pair without padding."""
    import torch

    pairs = [(example.question, example.answer) for example in examples]
    found, _ = windows(tokens, pairs, longest, with_question=with_question)
    losses = []
    for window in found:
        labels = labels_of(examples[window.pair])
        types = torch.tensor([window.types]) if window.types else None
        ids = torch.tensor([window.ids])
        logits = network(ids, torch.ones_like(ids), types)[0]
        for place, word in zip(window.firsts, window.word_numbers, strict=True):
            losses.append(-torch.log_softmax(logits[place], 0)[labels[word]])
    return torch.stack(losses).mean()


def labels_of(example: Example) -> list[int]:
    """1 for each word of the answer that a span of the key phrase touches, else 0."""
    return [
        int(any(begin < right and left < end for left, right in example.spans))
        for begin, end in cut_words(example.answer)
    ]


def _padded(own: Any, examples: Sequence[Example], longest: int, with_question: bool) -> tuple[Any, ...]:
    import torch

    pairs = [(example.question, example.answer) for example in examples]
    found, _ = windows(own, pairs, longest, with_question=with_question)

    def rows(given: Iterable[Sequence[int]], filler: int = 0) -> Any:
        each = [torch.tensor(row) for row in given]
        return torch.nn.utils.rnn.pad_sequence(each, batch_first=True, padding_value=filler)

    return (
        rows(window.ids for window in found),
        rows([1] * len(window.ids) for window in found),
        rows(window.types for window in found),
        rows(window.firsts for window in found),
        rows(
            ([labels_of(examples[window.pair])[word] for word in window.word_numbers] for window in found),
            -100,
        ),
    )


def _saved(folder: Path, model: Any, own: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    model.eval().save_pretrained(folder)
    own.save_pretrained(folder)
    return folder


def _written(
    folder: Path, network: Any, own: Any, units: int, longest: int, *, with_question: bool
) -> ModelFolder:
    from distillery_learned.metrics.networks import save_network

    settings = {"units": units, "longest": longest, "with_question": with_question}
    return write(
        folder, "kpqa", settings, {"title": "A tiny model"}, lambda made: save_network(network, own, made)
    )
