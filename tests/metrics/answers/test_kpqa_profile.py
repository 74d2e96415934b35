"""Lee et al. (2021), KPQA: values of each row and correlations with people on their judgments of MS-MARCO.

The texts have no licence and are no part of the project: where they are not beside it, nothing here runs.
"""

from functools import cache

import numpy as np
import pytest

from metrics import metric
from metrics.metaeval.data import Floats
from metrics.tokens import PTB_KPQA
from tests.metrics.goldens import golden
from tests.metrics.shared import marco

pytestmark = pytest.mark.only_on("shared")
GOLDEN = golden("kpqa_marco_correlations")
MARCO = GOLDEN["datasets"]["marco_all"]
KEYS = {"bleu-1": "bleu1", "bleu-4": "bleu4", "rouge-l": "rougeL", "cider": "cider"}


@cache
def values(name: str) -> Floats:
    rows = marco()
    return metric(name, "kpqa-2021").score(
        [row["answer"] for row in rows], [[row["reference1"]] for row in rows]
    )


def correlations(found: Floats) -> list[float]:
    from scipy.stats import pearsonr, spearmanr

    human = [float(row["scores"]) for row in marco()]
    return [float(pearsonr(human, found)[0]), float(spearmanr(human, found)[0])]


@pytest.mark.parametrize("name", KEYS)
def test_every_row_has_the_golden_value_and_so_do_correlations_without_a_jvm(name):
    found = values(name)
    tolerance = GOLDEN["tolerance"]
    absolute = tolerance["row_scores_absolute_meteor_cider"] if name == "cider" else 0
    assert found.tolist() == pytest.approx(
        MARCO["row_scores"][KEYS[name]], rel=tolerance["row_scores_relative"], abs=absolute
    )
    expected = MARCO["correlation"][KEYS[name]]
    assert correlations(found) == pytest.approx(
        [expected["pearson"], expected["spearman"]], abs=tolerance["correlation"]
    )
    assert correlations(found) == pytest.approx(MARCO["paper"][KEYS[name]], abs=tolerance["paper"])


@pytest.mark.only_on("java")
def test_meteor_by_its_own_program_is_the_golden_one():
    found = values("meteor-1.5")
    assert found.tolist() == pytest.approx(MARCO["row_scores"]["meteor"], abs=1e-6)
    assert correlations(found) == pytest.approx([0.422543, 0.41303], abs=2e-6)


def test_white_space_tokens_make_bleu_4_almost_blind():
    from dataclasses import replace

    from metrics import profile

    rows = marco()
    kpqa = profile("kpqa-2021")
    found = metric("bleu-4", replace(kpqa, tokeniser="whitespace")).score(
        [row["answer"] for row in rows], [[row["reference1"]] for row in rows]
    )
    assert correlations(found)[0] == pytest.approx(0.035, abs=0.02)


def test_our_own_meteor_orders_these_answers_not_much_worse_than_the_program():
    found = values("meteor")
    assert not np.isnan(found).any()
    assert correlations(found)[0] == pytest.approx(0.374, abs=0.001)


@pytest.mark.only_on("java")
def test_all_texts_have_the_tokens_of_the_original():
    from tests.metrics.tokens.corenlp import original

    texts = sorted({row[key] for row in marco() for key in ("question", "answer", "reference1")})
    assert len(texts) > 1900
    dropped = {"''", "'", "``", "`", ".", "?", "!", ",", ":", "-", "--", "...", ";"}
    expected = [[token for token in tokens if token not in dropped] for tokens in original(texts)]
    assert [PTB_KPQA.split(text) for text in texts] == expected
