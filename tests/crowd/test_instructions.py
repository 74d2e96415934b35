"""Instructions that change while people work: versions, and what each person goes on reading."""

import pytest

from crowd.errors import StageStateError
from crowd.models import Assignment, Instructions, Stage
from crowd.services.stages import change_stage
from tests.crowd.world import make_stage
from tests.people.conftest import new_link, path_of, stage  # noqa: F401 - fixtures
from tests.people.test_joining import agree, come

pytestmark = pytest.mark.django_db


def test_who_has_begun_goes_on_with_the_instructions_that_they_saw(stage, new_link, path_of, client):  # noqa: F811
    path = path_of(new_link())
    address = agree(client, path, come(client, path))["Location"]
    assert "Choose one." in client.get(address).content.decode()
    stage.refresh_from_db()
    change_stage(stage=stage, changes={"task_description": "Choose the one that you like."})
    assert stage.instructions_version == 2
    assert "Choose one." in client.get(address).content.decode()
    later = type(client)()
    new = agree(later, path, come(later, path))["Location"]
    assert "Choose the one that you like." in later.get(new).content.decode()
    assert set(Assignment.objects.values_list("instructions_version", flat=True)) == {1, 2}
    kept = list(Instructions.objects.order_by("version").values_list("version", "description"))
    assert kept == [(1, "Choose one."), (2, "Choose the one that you like.")]


def test_only_the_words_of_an_opened_stage_change(stage):  # noqa: F811
    Stage.objects.filter(pk=stage.pk).update(kind="screening", config={"instructions": "Read."})
    stage.refresh_from_db()
    for words in ("Read with care.", "Read it twice."):
        change_stage(stage=stage, changes={"config": {"instructions": words}})
    assert list(Instructions.objects.order_by("version").values_list("version", "text")) == [
        (1, "Read."), (2, "Read with care."), (3, "Read it twice."),
    ]  # fmt: skip
    with pytest.raises(StageStateError, match="config cannot change"):
        change_stage(stage=stage, changes={"config": {"instructions": "", "show_context": False, "units": 3}})
    change_stage(stage=stage, changes={"title": "Another title"})
    assert stage.instructions_version == 3


def test_the_instructions_of_a_draft_have_no_versions():
    draft = make_stage()
    change_stage(stage=draft, changes={"task_description": "Choose two."})
    assert draft.instructions_version == 1
    assert not Instructions.objects.exists()
