"""Screening and curation in a study's file."""

import pytest

from core.projects.models import Project
from crowd.kinds import config_of
from crowd.models import Stage
from crowd.services.stages import create_stage
from crowd.study.documents import study_toml
from crowd.study.explain import StudyError
from crowd.study.planning import apply, plan
from crowd.study.reader import read
from tests.cases import apart
from tests.crowd.world import make_endpoint
from tests.study.conftest import KEYS

pytestmark = pytest.mark.django_db

STUDY = """
[project]
slug = "boiling"
title = "Boiling"
budget = "100.00"

[endpoints.local]
preset = "local"
access_key_env = "LOCAL_ACCESS_KEY"
secret_key_env = "LOCAL_SECRET"

[[stages]]
slug = "screening"
title = "Screening"
kind = "screening"
endpoint = "local"
reward = "0.10"
redundancy = 3
units_per_hit = 5
checks_per_hit = 1
budget = "20.00"
task = { title = "Say what searchers look for", description = "Five queries." }

[stages.config]
tolerated_sensitive = 1
ties_wait = false
checks = { facebook = "navigational", "watch game of thrones" = "transactional" }

[[stages]]
slug = "curation"
title = "Curation"
kind = "curation"
endpoint = "local"
reward = "0.20"
redundancy = 2
budget = "20.00"
task = { title = "Choose the passages", description = "One query." }

[stages.config]
candidates = 8
merging = "exact"
highlights = true
"""


@pytest.fixture
def applied(tmp_path):
    def applied(text):
        path = tmp_path / "study.toml"
        path.write_text(text, encoding="utf-8")
        study = read(str(path))
        found = plan(study, KEYS, to_apply=True)
        apply(study, found, KEYS)
        return found

    return applied


def test_a_file_with_both_stages_is_applied_once_with_the_options_of_each(applied):
    applied(STUDY)
    screening, curation = Stage.objects.order_by("pk")
    assert config_of(screening).checks == {
        "facebook": "navigational",
        "watch game of thrones": "transactional",
    }
    assert (config_of(screening).tolerated_sensitive, config_of(screening).tolerated_adult) == (1, 0)
    assert (config_of(curation).candidates, config_of(curation).merging) == (8, "exact")
    assert (config_of(curation).most_passages, config_of(curation).screened) == (3, True)
    shown = study_toml(Project.objects.get())
    assert applied(shown).empty


def test_options_that_cannot_be_are_refused_with_their_line(applied, subtests):
    for old, new, words in [
        ('facebook = "navigational"', 'facebook = "a site"', "navigational"),
        ('merging = "exact"', 'merging = "any"', "exact"),
        ("candidates = 8", "candidates = 80", "50"),
        ("highlights = true", "colours = true", "colours"),
    ]:
        with apart(subtests, old=old, new=new, words=words):
            with pytest.raises(StudyError) as caught:
                applied(STUDY.replace(old, new))
            (problem,) = caught.value.problems
            assert words in f"{problem.what} {problem.remedy} {problem.field}"
            line = next(n for n, line in enumerate(STUDY.replace(old, new).splitlines(), 1) if new in line)
            assert problem.line == line
            assert not Stage.objects.exists()


def test_the_desks_form_offers_the_options_of_both_kinds(client, django_user_model):
    from core.projects.services import create_project
    from crowd.services.spenders import allow_spending

    owner = django_user_model.objects.create_user("ada")
    client.force_login(owner)
    project = create_project(slug="boiling", title="Boiling", owner=owner, budget_cents=10_000)
    allow_spending(endpoint=make_endpoint(), project=project)
    for kind, words in (("screening", "Tolerated sensitive"), ("curation", "Most passages")):
        page = client.get(f"/desk/projects/boiling/new-stage/?kind={kind}")
        assert words in page.content.decode()
    stage = create_stage(
        project=project,
        slug="s",
        title="S",
        kind="screening",
        endpoint=make_endpoint(),
        task_title="T",
        task_description="D",
        reward_cents=1,
        redundancy=3,
    )
    assert config_of(stage).ties_wait is True
