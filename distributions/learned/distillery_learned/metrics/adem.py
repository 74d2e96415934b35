"""ADEM: a score learned from people's (Lowe et al. 2017, equations 1 and 2, section 5.1).

The forms are `adem`, `c-adem` without the reference, `r-adem` without the question. The question is the
context; each of its lines is a turn. Values are on the scale of the scores that the model was trained on and
may lie somewhat outside of it, as nothing cuts them off.

    score = (c' M a + r' N a - alpha) / beta         c context, r reference, a response
    loss  = mean of (score - human)^2 + penalty (sum of |M| + sum of |N|)

C-ADEM has no N, R-ADEM no M. Of several references the one with the highest r' N a counts, as with our other
metrics; the paper has one. The paper prints a sum over examples, which would make the penalty mean less the
more examples there are; we take the mean of a batch. alpha and beta are set before training, such that the
examples span a scale while M and N are the identity, and never change.

A model is a folder with an encoder, its principal components, and the matrices of each form. `encoder/` is a
copy of the encoder, so that the folder needs nothing beside it. With `external` the card names the encoder's
folder instead; another encoder than the one of training is refused by its digest.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from distillery_learned.metrics import adem_examples as examples
from distillery_learned.metrics import missing, needed
from distillery_learned.metrics.text_encoders import text_encoder
from metrics.errors import MetricError
from metrics.model_folders import Choice, ModelFolder, opened, read_card
from metrics.profiles import ADEM, Profile
from metrics.texts import NO_REFERENCE, Chunk, ChunkValues, Floats, Metric, Places, signature


@dataclass(frozen=True, slots=True, eq=False)
class Terms:
    """k examples along n components.

    `references` is (k, R, n): an example with fewer than R references repeats its first, which changes no
    maximum. What a form has no use for may be of any value.
    """

    contexts: Floats
    references: Floats
    responses: Floats

    def __len__(self) -> int:
        return len(self.responses)

    def rows(self, which: Places) -> "Terms":
        """Some of the examples."""
        return Terms(self.contexts[which], self.references[which], self.responses[which])

    def along(self, n: int) -> "Terms":
        """The same along the first `n` components alone."""
        return Terms(self.contexts[:, :n], self.references[:, :, :n], self.responses[:, :n])


@dataclass(frozen=True, slots=True, eq=False)
class Parameters:
    """M and N (n, n), None where the form has none, and what brings products to the scale."""

    m: Floats | None
    n: Floats | None
    alpha: float = 0.0
    beta: float = 1.0

    @property
    def size(self) -> int:
        """Number of components."""
        matrix = self.m if self.m is not None else self.n
        return 0 if matrix is None else len(matrix)

    @property
    def norm(self) -> float:
        """L1 norm of what is learned."""
        return sum(float(np.abs(matrix).sum()) for matrix in (self.m, self.n) if matrix is not None)

    def before(self) -> "Parameters":
        """As it was before training: both matrices the identity."""
        identity = np.eye(self.size)
        return replace(
            self, m=None if self.m is None else identity, n=None if self.n is None else identity.copy()
        )


def started(terms: Terms, *, context: bool, reference: bool, scale: tuple[float, float]) -> Parameters:
    """Identities, with alpha and beta such that the scores of these examples span the scale."""
    n = terms.responses.shape[1]
    plain = Parameters(np.eye(n) if context else None, np.eye(n) if reference else None)
    products, _ = _products(plain, terms)
    least, most = float(products.min()), float(products.max())
    if not most > least:
        raise MetricError("All examples are equally alike; ADEM cannot learn to tell them apart.")
    beta = (most - least) / (scale[1] - scale[0])
    return replace(plain, alpha=least - scale[0] * beta, beta=beta)


def scores(parameters: Parameters, terms: Terms) -> Floats:
    """ADEM's score of each example (k)."""
    return (_products(parameters, terms)[0] - parameters.alpha) / parameters.beta


def loss(parameters: Parameters, terms: Terms, human: Floats, penalty: float) -> float:
    """Mean squared error, and the penalty."""
    error = scores(parameters, terms) - human
    return float((error**2).mean()) + penalty * parameters.norm


def gradient(
    parameters: Parameters, terms: Terms, human: Floats, penalty: float
) -> tuple[Floats | None, Floats | None]:
    """Of the loss, by M and by N; the penalty of an entry that is 0 pulls it nowhere."""
    products, counted = _products(parameters, terms)
    error = (products - parameters.alpha) / parameters.beta - human
    pull = (2 / (parameters.beta * len(terms)) * error)[:, None] * terms.responses
    by_m = by_n = None
    if parameters.m is not None:
        by_m = terms.contexts.T @ pull + penalty * np.sign(parameters.m)
    if parameters.n is not None:
        by_n = counted.T @ pull + penalty * np.sign(parameters.n)
    return by_m, by_n


def _products(parameters: Parameters, terms: Terms) -> tuple[Floats, Floats]:
    """c' M a + r' N a of each example (k), and the reference that counts (k, n)."""
    products = np.zeros(len(terms))
    counted = terms.references[:, 0]
    if parameters.m is not None:
        products += ((terms.responses @ parameters.m.T) * terms.contexts).sum(1)
    if parameters.n is not None:
        images = terms.responses @ parameters.n.T
        if terms.references.shape[1] == 1:
            products += (images * counted).sum(1)
        else:
            each = (terms.references * images[:, None]).sum(2)
            best = each.argmax(1)
            rows = np.arange(len(terms))
            products += each[rows, best]
            counted = terms.references[rows, best]
    return products, counted


# Principal components of vectors (Pearson 1901; Lowe et al. 2017, section 5.1).


@dataclass(frozen=True, slots=True, eq=False)
class Projection:
    """`mean` (width) and the first components (n, width), the one of most variance first.

    `shares` (n) of the variance lie along each. The first m of them are the components of m dimensions.
    """

    mean: Floats
    components: Floats
    shares: Floats

    @classmethod
    def of(cls, vectors: Floats, n: int) -> "Projection":
        """The first `n` components of some vectors; fewer where the vectors have fewer."""
        mean = vectors.mean(0)
        _, lengths, directions = np.linalg.svd(vectors - mean, full_matrices=False)
        variances = lengths**2
        total = variances.sum()
        if total <= 0:
            raise MetricError("All texts have the same vector; nothing can be learned from them.")
        rank = int(np.count_nonzero(lengths > lengths[0] * max(vectors.shape) * np.finfo(np.float64).eps))
        components = directions[: min(n, rank)]
        largest = np.abs(components).argmax(1)
        # The sign of a component is arbitrary and BLAS libraries differ. The largest entry is made positive,
        # so that the same vectors give the same model on every machine.
        signs = np.sign(components[np.arange(len(components)), largest])
        return cls(mean, components * signs[:, None], variances[: len(components)] / total)

    def __call__(self, vectors: Floats, n: int | None = None) -> Floats:
        """Vectors (v, width) along the first `n` components (v, n)."""
        projected: Floats = (vectors - self.mean) @ self.components[:n].T
        return projected


NO_QUESTION = "there is no question"
_TITLES = {"adem": "ADEM", "c-adem": "C-ADEM", "r-adem": "R-ADEM"}
_VERSION = 1


def make(name: str, profile: Profile) -> Metric:
    """A form of ADEM, by the model that the profile's settings choose."""
    choice = profile.options(ADEM).get("model")
    parts, lacks = _describe_form(name, choice)
    return Metric(
        name,
        _TITLES[name],
        signature(name, _VERSION, **parts),
        partial(_measure, form=name, choice=choice),
        low=float("-inf"),
        high=float("inf"),
        needs=frozenset() if name == examples.REFERENCE else frozenset({"questions"}),
        lacks=lacks,
    )


def _describe_form(form: str, choice: Choice | None) -> tuple[dict[str, object], str]:
    """What the signature says of the model, and why the form cannot be scored, empty if it can."""
    if choice is None:
        return {"model": "none"}, missing() or "no ADEM model is chosen (--model FOLDER)"
    try:
        card = read_card(Path(choice.folder))
    except MetricError as error:
        return {"model": f"{ADEM}-{choice.digest[:12]}"}, missing() or str(error).removesuffix(".")
    settings = card["settings"]
    of_form = settings.get("forms", {}).get(form)
    parts = {
        "model": f"{ADEM}-{choice.digest[:12]}",
        "encoder": f"{card.get('encoder', {}).get('name', '')}-{settings['encoder']['digest'][:12]}",
        "n": of_form["n"] if of_form else "none",
        "refs": "none" if form == examples.CONTEXT else "max",
        "scale": f"{settings['low']:g}-{settings['high']:g}",
    }
    why = "" if of_form else f"the model {choice.folder} was trained without {form}"
    return parts, missing() or why


def _measure(chunk: Chunk, _: Any, form: str, choice: Choice | None) -> ChunkValues:
    if choice is None:
        raise MetricError(f"{form} needs a model.")
    scorer = load(choice)
    encoded = chunk.once(("adem", choice.digest), lambda: _encoded(chunk, scorer))
    values = scorer.score(encoded, form)
    gone = np.isnan(values)
    alone = np.diff(chunk.starts) == 0 if form != examples.CONTEXT else np.zeros(len(chunk), bool)
    counts = {NO_REFERENCE: int((gone & alone).sum()), NO_QUESTION: int((gone & ~alone).sum())}
    return ChunkValues(values, None, {reason: count for reason, count in counts.items() if count})


def _encoded(chunk: Chunk, scorer: "Scorer") -> examples.EncodedExamples:
    answers = chunk.answers
    questions = answers.questions or [""] * len(answers)
    return examples.encode(
        [
            examples.RatedResponse(
                "", examples.turns(question), tuple(references), candidate, "", float("nan")
            )
            for question, references, candidate in zip(
                questions, answers.references, answers.candidates, strict=True
            )
        ],
        scorer.encoder,
    )


#: What the folder holds: the encoder, and the matrices with the projection.
ENCODER, LEARNED = "encoder", "adem.safetensors"


@dataclass(frozen=True, slots=True, eq=False)
class Scorer:
    """A model that was loaded."""

    folder: ModelFolder
    encoder: examples.TextEncoder
    projection: Projection
    forms: Mapping[str, Parameters]

    def score(self, encoded: examples.EncodedExamples, which: str = "adem") -> Floats:
        """Scores (k), nan where an example lacks what the form compares with."""
        if which not in self.forms:
            raise MetricError(f"{self.folder.path} has no {which}; it has {', '.join(self.forms)}.")
        return scored(self.projection, self.forms[which], encoded)


@lru_cache(maxsize=4)
def load(choice: Choice, device: str = "auto") -> Scorer:
    """The model of a choice, kept while the process lives; MetricError where it is not that model."""
    needed("ADEM")
    from safetensors.numpy import load_file

    folder = opened(Path(choice.folder), ADEM, choice.digest)
    external = str(folder.card.get("encoder", {}).get("external", ""))
    encoder = text_encoder(external or folder.path / ENCODER, device=device)
    encoder_digest = str(folder.settings["encoder"]["digest"])
    if encoder.digest != encoder_digest:
        raise MetricError(
            f"The encoder {external or ENCODER} of {folder.path} is not the one that the model was trained "
            f"with ({encoder_digest[:12]}, not {encoder.digest[:12]}). Put that one there."
        )
    tensors = load_file(folder.path / LEARNED)
    projection = Projection(tensors["mean"], tensors["components"], tensors["shares"])
    forms = {
        form: Parameters(
            tensors.get(f"{form}.m"),
            tensors.get(f"{form}.n"),
            float(tensors[f"{form}.alpha"][0]),
            float(tensors[f"{form}.beta"][0]),
        )
        for form in folder.settings["forms"]
    }
    return Scorer(folder, encoder, projection, forms)


def scored(projection: Projection, parameters: Parameters, encoded: examples.EncodedExamples) -> Floats:
    """Scores (k) under some parameters, nan where an example lacks what they compare with."""
    column = np.full(len(encoded), np.nan)
    needs = {"context": parameters.m is not None, "reference": parameters.n is not None}
    rows = complete_rows(encoded, **needs)
    if len(rows):
        column[rows] = scores(parameters, terms_of(projection, encoded.part(rows), parameters.size))
    return column


def complete_rows(encoded: examples.EncodedExamples, *, context: bool, reference: bool) -> Places:
    """The examples that have a context, a reference, or both, as wanted."""
    complete = np.ones(len(encoded), bool)
    if context:
        complete &= encoded.contexts >= 0
    if reference:
        complete &= np.diff(encoded.starts) > 0
    return np.flatnonzero(complete)


def terms_of(projection: Projection, encoded: examples.EncodedExamples, n: int | None) -> Terms:
    """The examples along n components; of references that are not there the first text stands in."""
    places = np.unique(
        np.concatenate((encoded.contexts[encoded.contexts >= 0], encoded.responses, encoded.references))
    )
    vectors = projection(encoded.vectors[places], n)
    counts = np.diff(encoded.starts)
    most = max(1, int(counts.max(initial=0)))
    nth = np.arange(most)[None, :]
    which = encoded.starts[:-1, None] + np.where(nth < counts[:, None], nth, 0)
    references = (
        encoded.references[np.minimum(which, len(encoded.references) - 1)]
        if len(encoded.references)
        else np.repeat(encoded.responses[:, None], most, 1)
    )
    contexts = np.where(encoded.contexts >= 0, encoded.contexts, encoded.responses)
    return Terms(
        vectors[np.searchsorted(places, contexts)],
        vectors[np.searchsorted(places, references)],
        vectors[np.searchsorted(places, encoded.responses)],
    )
