"""The encoders that turn texts and contexts into vectors for ADEM, by folder or name."""

from pathlib import Path

from metrics.learned.adem.text_encoder import TextEncoder


def text_encoder(name: str | Path, *, download: bool = False, device: str = "auto") -> TextEncoder:
    """The encoder in a folder (sentence-transformers, a transformer, a trained GRU), or by its name.

    A GRU that is still to be trained comes from `gru.train_gru`.
    """
    from metrics.learned.adem import gru, sentences  # which take seconds

    if gru.is_one(Path(name)):
        return gru.load(Path(name), device=device)
    return sentences.load(str(name), download=download, device=device)
