"""The folder of a training: whole files, the right training, and refusals in a sentence."""

import pytest
import torch

from distillery_learned.training.kpqa_runs import begun, folder_of, refuse_existing
from metrics.errors import MetricError
from tests.learned.kpqa import training_world as world

WHAT = {"settings": {"batch": 16, "seed": 1}, "encoder": "e", "data": "d"}


def refused(out, **other):
    with pytest.raises(MetricError) as refusal:
        begun(out, {**WHAT, **other})
    return str(refusal.value).replace(f"{out.parent}/", "")


def test_a_state_is_kept_in_place_of_the_last(tmp_path) -> None:
    kept = begun(tmp_path / "model", WHAT)
    assert kept.state() is None
    for step in (1, 2):
        kept.keep({"step": step, "best": 0, "weights": {"a": torch.ones(2) * step}})
    found = begun(tmp_path / "model", WHAT).state()
    assert found["step"] == 2
    assert found["weights"]["a"].tolist() == [2, 2]
    assert sorted(path.name for path in kept.folder.iterdir()) == ["state.pt", "training.json"]


def test_the_best_weights_that_a_state_names_are_there_always(tmp_path) -> None:
    kept = begun(tmp_path / "model", WHAT)
    kept.keep_best(1, {"a": torch.ones(1)})
    kept.keep({"best": 1})
    kept.keep_best(2, {"a": torch.zeros(1)})
    assert kept.best(1)["a"] == 1  # the state still names it
    kept.keep({"best": 2})
    assert kept.best(2)["a"] == 0
    assert not (kept.folder / "best-1.pt").exists()
    kept.remove()
    assert not kept.folder.exists()


def test_the_training_of_something_else_is_refused(tmp_path) -> None:
    out = tmp_path / "model"
    begun(out, WHAT)
    assert refused(out, settings={"batch": 8, "seed": 1}) == (
        "model.training holds a training with batch 16, and 8 is asked for. Give the same options, or remove "
        "that folder to train from the beginning."
    )
    assert "another encoder" in refused(out, encoder="f")
    assert "on other data" in refused(out, data="g")
    begun(out, WHAT)


def test_broken_files_are_told_with_the_remedy(tmp_path) -> None:
    out = tmp_path / "model"
    kept = begun(out, WHAT)
    kept.keep({"best": 0})
    state = kept.folder / "state.pt"
    for broken in (b"", b"no archive", state.read_bytes()[:-40]):
        state.write_bytes(broken)
        with pytest.raises(
            MetricError, match=r"state.pt cannot be read\. Remove the folder .*model.training"
        ):
            kept.state()
    (kept.folder / "training.json").write_text("{")
    assert "training.json cannot be read" in refused(out)
    (kept.folder / "training.json").write_text("[]")
    assert "another version" in refused(out)
    (kept.folder / "training.json").unlink()
    assert refused(out) == "model.training is no folder of a training. Move it away."


def test_code_in_a_state_is_not_run(tmp_path) -> None:
    class Evil:
        def __reduce__(self):
            return (open, (str(tmp_path / "written"), "w"))

    kept = begun(tmp_path / "model", WHAT)
    torch.save({"a": Evil()}, kept.folder / "state.pt")
    with pytest.raises(MetricError, match="cannot be read"):
        kept.state()
    assert not (tmp_path / "written").exists()


def test_a_model_or_a_stopped_training_is_not_overwritten(tmp_path) -> None:
    out = tmp_path / "model"
    refuse_existing(out, resume=False)
    begun(out, WHAT)
    with pytest.raises(
        MetricError, match=r"model.training holds a training .* Go on with --resume, or remove"
    ):
        refuse_existing(out, resume=False)
    refuse_existing(out, resume=True)
    out.mkdir()
    for resume in (False, True):
        with pytest.raises(MetricError, match="model is there already"):
            refuse_existing(out, resume=resume)


def test_a_folder_that_cannot_be_made_is_told(tmp_path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(MetricError, match=r"cannot be written: .*Is there room on the disk"):
        begun(tmp_path / "file" / "model", WHAT)
    assert folder_of(tmp_path / "a.b").name == "a.b.training"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"epochs": 0}, "The number of epochs must be from 1 to 10000, not 0"),
        ({"batch": 0}, "The size of a batch must be from 1"),
        ({"longest": 15}, "The length in word pieces must be from 16"),
        ({"units": 0}, "The number of units"),
        ({"learning_rate": 0.0}, "The learning rate must be above 0 and at most 1, not 0.0"),
        ({"learning_rate": float("nan")}, "The learning rate must be above 0"),
        ({"warm_up": 1.0}, "The share of warm-up"),
        ({"clip": 0.0}, "the norm of gradients one above 0"),
        ({"precision": "fp8"}, "There is no precision fp8; there are auto, fp32, bf16, fp16"),
    ],
)
def test_settings_that_make_no_sense_are_refused(options, said) -> None:
    with pytest.raises(MetricError, match=said):
        world.settings(**options)
