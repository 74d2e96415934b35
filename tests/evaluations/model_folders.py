"""Folders that look like models: a card and files that nobody loads."""

from metrics.model_folders import write


def model(parent, name="marco", kind="kpqa", text="weights", **card):
    """A model's folder in `parent`; another text makes it another model."""

    def fill(folder):
        (folder / "head.safetensors").write_text(text)

    said = {"encoder": {"name": "tiny", "width": 32}, "results": {"f1": 0.558}, **card}
    return write(parent / name, kind, {"units": 8, "longest": 64, "with_question": True}, said, fill)
