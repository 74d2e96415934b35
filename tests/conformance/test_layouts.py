"""HIT layouts: a template of the website by its id, filled by the parameters of CreateHIT."""

import pytest

from tests.clients import ask
from tests.conformance.protocol import (
    ENTITY_ID,
    NOBODY,
    answer_fields,
    assignments,
    get_hit,
    hit_properties,
    refused_request,
    type_properties,
)

PAGE = """<p id="a">${question}</p><img src="${image_url}" alt="${question}">
<script>var shown = `${question}`; var other = `${ not a name }`;</script>
<input name="answer">"""


@pytest.fixture(scope="module")
def layout_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("layouts") / "picture.html"
    path.write_text(PAGE, encoding="utf-8")
    return path


@pytest.fixture
def layout(manage, requester, layout_file):
    """A template with two parameters, made as on the website."""
    return manage("layout", "create", requester.name, str(layout_file))


def of_layout(layout_id, *pairs, **changes):
    properties = hit_properties(HITLayoutId=layout_id, **changes)
    del properties["Question"]
    return properties | {"HITLayoutParameters": [{"Name": name, "Value": value} for name, value in pairs]}


FILLED = (
    ("image_url", "https://pictures.example.org/1.jpg?a=1&b=2"),
    ("question", "Ein <b>Haus</b> ]]> “?” €"),
)


def test_a_layout_has_an_id_and_says_its_parameters(manage, requester, layout):
    assert ENTITY_ID.fullmatch(layout["layout_id"])
    assert layout["parameters"] == ["question", "image_url"]
    [listed] = [each for each in manage("layout", "list", requester.name) if each["name"] == "picture.html"]
    assert listed["layout_id"] == layout["layout_id"]
    assert manage("layout", "show", layout["layout_id"])["requester"] == requester.name


def test_a_layout_is_filled_as_a_batch_is_and_named_in_every_answer(client, worker, layout):
    hit = client.create_hit(**of_layout(layout["layout_id"], *FILLED))["HIT"]
    assert hit["HITLayoutId"] == layout["layout_id"]
    assert get_hit(client, hit)["HITLayoutId"] == layout["layout_id"]
    assert layout["layout_id"] in [each.get("HITLayoutId") for each in client.list_hits()["HITs"]]
    taken = worker.accept(hit["HITId"])
    page = ask("GET", taken["frame_url"]).text
    assert '<p id="a">Ein <b>Haus</b> ]]> “?” €</p>' in page
    assert 'src="https://pictures.example.org/1.jpg?a=1&b=2"' in page
    assert "`${ not a name }`" in page
    assert worker.submit(taken, answer="house").status == 200
    [assignment] = assignments(client, hit)
    assert answer_fields(assignment) == {"answer": "house"}


def test_hits_of_a_type_take_layouts_too_and_tokens_count(client, layout):
    kind = client.create_hit_type(**type_properties())["HITTypeId"]
    wanted = {
        "HITTypeId": kind,
        "LifetimeInSeconds": 3600,
        "HITLayoutId": layout["layout_id"],
        "HITLayoutParameters": [{"Name": name, "Value": value} for name, value in FILLED],
        "UniqueRequestToken": f"layout-{kind[:20]}",
    }
    hit = client.create_hit_with_hit_type(**wanted)["HIT"]
    assert (hit["HITTypeId"], hit["HITLayoutId"]) == (kind, layout["layout_id"])
    with refused_request("HITAlreadyExists", hit["HITId"]):
        client.create_hit_with_hit_type(**wanted)


def test_what_does_not_fit_a_layout_is_named_as_on_mturk(client, new_requester, layout):
    stem = "You have not provided all required HITLayout parameters. Missing parameter names: image_url"
    layout_id = layout["layout_id"]
    both = of_layout(layout_id, *FILLED) | {"Question": hit_properties()["Question"]}
    parameters_alone = hit_properties(HITLayoutParameters=[{"Name": "a", "Value": "b"}])
    for properties, code, words in (
        (of_layout(layout_id, FILLED[1]), "AWS.MissingParameters", stem),
        (of_layout(layout_id, *FILLED, ("colour", "red")), "InvalidParameterValue", "colour"),
        (of_layout(layout_id, *FILLED, ("question", "Why?")), "InvalidParameterValue", "twice"),
        (both, "InvalidParameterValue", "exactly one"),
        (parameters_alone, "InvalidParameterValue", "HITLayoutParameters"),
        (of_layout(NOBODY), "HITLayoutDoesNotExist", NOBODY),
    ):
        with refused_request(code, words):
            client.create_hit(**properties)
    with refused_request("HITLayoutDoesNotExist"):
        new_requester().client.create_hit(**of_layout(layout_id, *FILLED))
