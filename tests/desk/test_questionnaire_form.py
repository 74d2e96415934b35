"""The form of a questionnaire: fields in an order, conditions, and pictures in its instructions."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command

from core.projects.services import create_project
from crowd.models import Picture, Stage
from crowd.services.copies import copy_stage
from crowd.services.instructions import list_missing_texts
from crowd.services.pictures import add_picture, pictures_in, render_instructions

pytestmark = pytest.mark.django_db

NEW = "/desk/projects/reading/new-stage/?kind=questionnaire&preset="
PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 40
FIELDS = (
    ("clear", "yesno", "Is it clear?", {}),
    ("why", "text", "Why not?", {"show_if": "clear = no"}),
    ("kind", "choice", "Of what kind?", {"options": "long\nshort", "show_if": "clear = yes | no"}),
)


def entered(order=(1, 2, 3), **changes):
    data = {
        "title": "Clarity", "endpoint": "local", "reward": "0.10", "redundancy": "3", "units_per_hit": "1",
        "budget": "5.00", "config.unit": "answer", "config.instructions": "Read it.",
        "config.reference": "none", "work_time": "30m", "open_for": "7d", "auto_approve_after": "3d",
        "checks_per_hit": "0", "approve": "by-hand", "seed": "5", "config.questions": "0",
        "config.pairs_per_question": "0",
    }  # fmt: skip
    for number, ((name, kind, label, more), place) in enumerate(zip(FIELDS, order, strict=True)):
        cells = {"name": name, "type": kind, "label": label, "required": "on", "ORDER": place} | more
        data |= {f"config.fields-{number}-{key}": value for key, value in cells.items()}
    return data | changes


def names(client, data):
    answer = client.post(NEW, data)
    assert answer.status_code == 302, answer.context["form"].errors
    return [field["name"] for field in Stage.objects.get().config["fields"]]


def test_fields_come_in_the_order_of_their_places_and_removed_ones_go(owner, project, endpoint):
    free = {f"config.fields-{number}-show_if": "" for number in range(3)}
    assert names(owner, entered(order=(3, 1, 2), **free)) == ["why", "kind", "clear"]
    Stage.objects.all().delete()
    assert names(owner, entered(**free, **{"config.fields-1-DELETE": "on"})) == ["clear", "kind"]


def test_conditions_are_lines_and_a_wrong_one_is_named(owner, project, endpoint):
    assert names(owner, entered()) == ["clear", "why", "kind"]
    stage = Stage.objects.get()
    assert stage.config["fields"][2]["show_if"] == {"clear": ["yes", "no"]}
    page = owner.get(f"/desk/projects/reading/stages/{stage.slug}/edit/").content.decode()
    assert "clear = yes | no" in page
    stage.delete()
    answer = owner.post(NEW, entered(**{"config.fields-1-show_if": "clear no"}))
    assert answer.status_code == 422
    assert "Row 2, Show if: &quot;clear no&quot; has no &quot;=&quot;" in answer.content.decode()


# Pictures


def test_a_picture_is_added_with_what_was_entered_or_saved_with_it(owner, manager, project, endpoint):
    upload = SimpleUploadedFile("A map.PNG", PNG)
    answer = manager.post(NEW, entered(step="picture", picture=upload))
    assert answer.status_code == 200 and not Stage.objects.exists()
    assert answer.context["form"]["config.instructions"].value() == "Read it.\n\n![a-map](a-map.png)"
    assert answer.context["form"]["config.fields"].data[1]["name"] == "why"
    again = SimpleUploadedFile("a-map.png", PNG)
    assert names(owner, entered(picture=again)) == ["clear", "why", "kind"]
    [picture] = Picture.objects.all()
    stage = Stage.objects.get()
    html = render_instructions(stage, f"{stage.config['instructions']} <b>*so*</b> [x](https://a.org)")
    address = f"/pictures/{picture.sha256}/a-map.png"
    assert f'<img src="{address}" alt="a-map">' in html
    assert "&lt;b&gt;<em>so</em>" in html and 'target="_blank" rel="noopener noreferrer"' in html
    shown = manager.get(address)
    assert (shown.content, shown["Content-Type"]) == (PNG, "image/png")
    assert manager.get(address.replace("a-map", "b")).status_code == 404
    assert "a-map.png" in manager.get("/desk/projects/reading/settings/").content.decode()


def test_what_is_no_picture_too_large_or_another_of_its_name_is_refused(manager, project, endpoint):
    add_picture(project=project, name="map.png", content=PNG)
    for upload, words in (
        (None, "Choose a file first."),
        (SimpleUploadedFile("map.svg", b"<svg/>"), "map.svg is no picture that pages can show"),
        (SimpleUploadedFile("map.png", PNG + b"1"), "another picture called map.png"),
        (SimpleUploadedFile("big.png", PNG + b"0" * 500_000), "big.png has 500 kB"),
    ):
        answer = manager.post(NEW, entered(step="picture", **({"picture": upload} if upload else {})))
        assert words in str(answer.context["form"].errors["picture"])
    assert Picture.objects.count() == 1
    answer = manager.post(NEW, entered(**{"config.instructions": "![x](https://a.org/x.png) ![y](none.png)"}))
    assert "no picture https://a.org/x.png" in answer.content.decode()


def test_a_picture_goes_only_where_no_instructions_show_it(owner, manager, as_, project, endpoint):
    picture = add_picture(project=project, name="map.png", content=PNG)
    names(owner, entered(**{"config.instructions": "![Map](map.png)"}))
    stage = Stage.objects.get()
    remove = f"/desk/projects/reading/pictures/{picture.pk}/remove/"
    assert as_("viewer").post(remove).status_code == 404
    assert "Take it out there first" in manager.post(remove, follow=True).content.decode()
    other = create_project(slug="other", title="Other")
    copied = copy_stage(stage=stage, slug="copied", project=other)
    assert not [*list_missing_texts(copied)]
    assert other.pictures.get().sha256 == picture.sha256
    stage.config |= {"instructions": "None."}
    stage.save()
    assert "map.png is removed." in manager.post(remove, follow=True).content.decode()
    assert not project.pictures.exists()


def test_a_study_file_brings_the_pictures_that_lie_beside_it(project, endpoint, owner, tmp_path, capsys):
    names(owner, entered())
    stage = Stage.objects.get()
    stage.config |= {"instructions": "![Map](map.png)\n![No](../no.png)"}
    stage.save()
    assert pictures_in(stage.config["instructions"]) == ["map.png", "../no.png"]
    call_command("study", "show", "reading")
    file = tmp_path / "study.toml"
    file.write_text(capsys.readouterr().out)
    (tmp_path / "map.png").write_bytes(PNG)
    call_command("study", "apply", str(file), "--yes")
    assert "../no.png: no such picture beside" in capsys.readouterr().err
    assert bytes(project.pictures.get().content) == PNG
    assert len([*list_missing_texts(stage)]) == 1
