"""`manage.py train-kpqa`: what it makes, what it says, and how it ends."""

import io
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from core.accounts.commandline import silent
from distillery_learned.papers.report import (
    PaperData,
    PaperModels,
    PaperSettings,
    PaperSource,
    build_report,
    paper_named,
)
from distillery_learned.training import progress
from distillery_learned.training.progress import stopping
from metrics.model_folders import opened
from tests.learned import tiny
from tests.repository import ROOT

SMALL = {"epochs": 2, "batch": 8, "learning_rate": 3e-3, "units": 16, "device": "cpu", "dev_share": 0.2}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """An encoder, and questions in SQuAD's form about ten articles."""
    made = tmp_path_factory.mktemp("train")
    tiny.bert(made / "bert")
    examples = [example for example in tiny.costs(60) if example.spans][:40]
    articles = []
    for number in range(10):
        paragraphs = []
        for example in examples[number::10]:
            (begin, end), *_ = example.spans
            asked = {
                "id": f"{number}-{len(paragraphs)}",
                "question": example.question,
                "answers": [{"text": example.answer[begin:end], "answer_start": begin}],
            }
            paragraphs.append({"context": example.answer, "qas": [asked]})
        articles.append({"title": f"Article {number}", "paragraphs": paragraphs})
    (made / "data.json").write_text(json.dumps({"version": "1.1", "data": articles}))
    return made


def train(folder, out, data="data.json", **options):
    """What the command prints, and what it notes beside it."""
    said, noted = io.StringIO(), io.StringIO()
    given = {**SMALL, "encoder": str(folder / "bert"), **options}
    call_command("train-kpqa", str(folder / data), out=out, stdout=said, stderr=noted, **given)
    return said.getvalue(), noted.getvalue()


def refused(folder, out, **options):
    with pytest.raises(CommandError) as refusal:
        train(folder, out, **options)
    assert not out.exists()
    return str(refusal.value).replace(f"{out.parent}/", "").replace(
        f"{folder}/", ""
    ), refusal.value.returncode


@pytest.fixture(scope="module")
def trained(folder):
    """A training without interruption: what was said, and its model."""
    out = folder / "model"
    return *train(folder, out, json=folder / "facts.json"), opened(out, "kpqa")


def test_a_model_is_made_its_epochs_are_told_and_its_facts_are_json(folder, trained) -> None:
    said, noted, model = trained
    assert "data.json (squad): 40 questions, 40 kept" in noted
    assert "Epoch 1: loss 0." in noted
    lines = said.splitlines()
    assert lines[0].startswith("Epoch 1: loss 0.")
    assert "development loss" in lines[1]
    assert lines[-2] == f"Written: {folder / 'model'} ({model.signature})"
    assert model.settings == {"units": 16, "longest": 64, "with_question": True}
    assert model.card["versions"]["distillery"]
    assert not (folder / "model.training").exists()
    facts = json.loads((folder / "facts.json").read_text())
    model = trained[2]
    assert facts["signature"] == model.signature
    assert facts["digest"] == model.digest
    assert facts["best"]["dev"]["loss"] == model.card["best"]["dev"]["loss"]
    assert facts["data"]["files"][0]["name"] == "data.json"
    assert str(folder) not in (folder / "facts.json").read_text()


def test_ctrl_c_keeps_the_training_and_says_how_to_go_on(folder, trained, tmp_path, monkeypatch) -> None:
    out = tmp_path / "model"
    before = signal.getsignal(signal.SIGINT)
    step = progress.TrainingProgress.step

    def interrupted(self, at) -> None:
        step(self, at)
        if at.done == 3:
            signal.raise_signal(signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr(progress.TrainingProgress, "step", interrupted)
        said, status = refused(folder, out)
    assert status == 130
    assert said == (
        "Stopped in epoch 1 of 2 after 3 of its steps. The same command with --resume goes on from there."
    )
    assert signal.getsignal(signal.SIGINT) is before
    said, _ = refused(folder, out)
    assert said.startswith(
        "model.training holds a training of this model that was stopped. Go on with --resume"
    )
    train(folder, out, resume=True)
    assert opened(out).digest == trained[2].digest


def test_who_asks_twice_stops_at_once() -> None:
    with stopping() as asked:
        assert not asked()
        signal.raise_signal(signal.SIGTERM)
        assert asked()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def test_what_cannot_be_done_is_said_in_a_sentence(folder, tmp_path) -> None:
    for options, words in (
        ({"epochs": 0}, "The number of epochs must be from 1 to 10000, not 0."),
        ({"max_length": 8}, "The length in word pieces must be from 16 to"),
        ({"precision": "fp16"}, "--precision fp16 needs a GPU. Use fp32, bf16 or auto."),
        ({"device": "abacus"}, "--device abacus cannot be used here"),
        ({"data": "none.json"}, "none.json"),
        ({"encoder": "no-such-encoder"}, "The encoder no-such-encoder is not on this machine"),
        ({"limit": 0}, "The limit must be at least 1, not 0."),
    ):
        found, status = refused(folder, tmp_path / "model", **options)
        assert words in found
        assert status == 1
        assert list(tmp_path.iterdir()) == []
    for option, words in (
        ("--epochs=two", "'two' is no whole number from 0"),
        ("--learning-rate=-1", "'-1' is no number above 0"),
        ("--dev-share=1", "'1' is no share: give a number from 0 and below 1, such as 0.1"),
        ("--precision=fp8", "invalid choice: 'fp8'"),
    ):
        with pytest.raises(CommandError) as refusal:
            call_command("train-kpqa", "no.json", "--encoder=e", f"--out={tmp_path / 'model'}", option)
        assert words in str(refusal.value)


def test_a_model_that_is_there_is_refused_before_any_work_and_not_overwritten_by_facts(
    folder, tmp_path
) -> None:
    out = tmp_path / "model"
    assert "would overwrite the model" in refused(folder, out, json=out)[0]
    out = tmp_path / "model"
    out.mkdir()
    with pytest.raises(CommandError, match="model is there already"):
        train(folder, out, "no-such-file.json", encoder="no-such-encoder")


@pytest.mark.long
def test_examples_that_are_nothing_but_a_key_phrase_can_be_left_out(folder, tmp_path) -> None:
    asked = {"id": "1", "question": "What is it?", "answers": [{"text": "The red book.", "answer_start": 0}]}
    squad = json.loads((folder / "data.json").read_text())
    squad["data"].append({"title": "w", "paragraphs": [{"context": "The red book.", "qas": [asked]}]})
    (folder / "whole.json").write_text(json.dumps(squad))
    for options, kept in (({}, 41), ({"without_whole": True}, 40)):
        out = tmp_path / str(kept)
        train(folder, out, "whole.json", epochs=1, **options)
        assert opened(out).card["data"]["counts"]["kept"] == kept


@pytest.mark.long
def test_without_question_and_with_a_limit(folder, tmp_path) -> None:
    out = tmp_path / "model"
    _, noted = train(folder, out, without_question=True, limit=20, epochs=1)
    card = opened(out).card
    assert card["settings"]["with_question"] is False
    assert card["data"]["counts"]["train"] + card["data"]["counts"]["dev"] == 20
    assert "40 questions, 40 kept" in noted
    assert "reads an answer alone (-KP)" in (out / "README.md").read_text()


@pytest.mark.long
def test_the_help_needs_no_model_library() -> None:
    told = subprocess.run(
        [sys.executable, "-X", "importtime", "manage.py", "train-kpqa", "--help"],
        check=True,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "MODEL.training/" in told.stdout
    assert " torch" not in told.stderr
    assert " transformers" not in told.stderr


def test_where_there_is_no_bar_lines_are_written_now_and_then() -> None:
    lines: list[str] = []
    from distillery_learned.training.kpqa_epochs import Step

    step = Step(1, 5, 40, 800, 0.31234, 45.4, 190.0)
    rare, often = (
        progress.TrainingProgress(silent, lines.append),
        progress.TrainingProgress(silent, lines.append, every=0),
    )
    rare.step(step)
    assert lines == []
    often.step(step)
    assert lines == ["epoch 1 of 5, loss 0.3123, 45 examples/s, step 40 of 800, 3.2 min left"]
    shown: list[tuple[int, int, str]] = []
    bar = progress.TrainingProgress(lambda *at: shown.append(at), lines.append, every=0)
    bar.step(step)
    bar.epoch({"epoch": 1, "train_loss": 0.3, "dev": {"loss": 0.25, "f1": 0.5}, "seconds": 1})
    bar.read(Path("data[b].json"), 1000)
    assert shown[-1] == (1000, 0, r"data\[b].json: questions read")
    bar.step(step)
    assert shown[-1] == (40, 800, "epoch 1 of 5, loss 0.3123, 45 examples/s, dev 0.2500")
    bar.note("2 examples")
    assert len(lines) == 1
    assert bar.held == ["2 examples"]


def test_durations() -> None:
    assert [progress.duration(seconds) for seconds in (4.4, 90, 5400)] == ["4 s", "1.5 min", "1.5 h"]


@pytest.mark.long
def test_several_seeds_make_several_models_whose_spread_stands_in_paper_002(folder, tmp_path):
    said, _ = train(folder, tmp_path / "kpqa", seeds=2, seed=3, epochs=1)
    models = [tmp_path / "kpqa-3", tmp_path / "kpqa-4"]
    assert len({opened(each).digest for each in models}) == 2
    assert "F1 over 2 trainings: mean " in said
    again, _ = train(folder, tmp_path / "kpqa", seeds=2, seed=3, epochs=1, resume=True)
    assert again.count("There already") == 2
    with pytest.raises(CommandError, match="is there already"):
        train(folder, tmp_path / "kpqa", seeds=2, seed=3, epochs=1)

    data = PaperData(
        (PaperSource("MS-MARCO", str(ROOT / "examples/scores.csv")),),
        models=PaperModels(models=tuple(map(str, models)), without_marco=(str(models[0]),)),
        sample=True,
    )
    report = build_report(paper_named("002"), data, PaperSettings(version="test"))
    items = {item.name: item for item in report.items}
    row = next(row for row in items["Table 3"].rows if row["metric"] == "BLEU-1-KPQA")
    assert row["trainings"] == 2
    assert isinstance(row["r sd"], float)
    assert items["Appendix C.1, five trainings"].status == "made"
    assert {row["variant"] for row in items["Table 4"].rows} == {"KPQA", "KPQA without MS-MARCO"}
    assert "no model trained without questions is given" in items["Table 4"].differs
    words = [row["word"] for row in items["Table 5"].rows if row["text"] == "reference"]
    assert words[:3] == ["Three", "to", "four"]
    assert {row["data"] for row in items["Table 10"].rows} >= {"all"}
