"""The figures of KPQA's answers to MS-MARCO questions, where that file is at hand (it may not be copied)."""

from pathlib import Path

import pytest

from core.progress import silent
from evaluations.choices import choose
from evaluations.table_evaluation import Options, run_evaluation
from evaluations.table_sources import opened

FILE = Path(__file__).resolve().parents[3] / "shared" / "data" / "kpqa" / "marco_all.csv"
#: Pearson and Spearman over all answers (Lee et al. 2021, Table 3, as their repository's files give them).
EXPECTED = {
    "bleu-1": (0.349, 0.329),
    "bleu-4": (0.193, 0.244),
    "rouge-l": (0.309, 0.301),
    "cider": (0.275, 0.278),
}

if FILE.is_file():

    def test_the_figures_of_the_paper():
        with opened(str(FILE), scored=True) as table:
            chosen = choose(table, metrics=tuple(EXPECTED), profile="kpqa-2021")
            asked = Options(replicates=0, draws=9, processes=1)
            report = run_evaluation(table, chosen, asked, progress=silent).report.as_json()
        for name, expected in EXPECTED.items():
            entry = report["metrics"][name]
            found = entry["pearson"]["global"]["value"], entry["spearman"]["global"]["value"]
            assert found == pytest.approx(expected, abs=0.0006), name
        assert report["n"] == {"answers": 1000, "questions": 500, "systems": 2, "scored": 1000, "ratings": 0}
        assert report["scale"] == [1, 5]
        assert [system["inferred"] for system in report["systems"]] == [True, True]
