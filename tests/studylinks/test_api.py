"""Study links of a requester by the API."""

import pytest

from marketplace.models import Activity
from people.models import StudyLink
from tests.api.conftest import is_problem, program_of
from tests.site import world

pytestmark = pytest.mark.django_db


def test_a_link_is_made_changed_and_closed_by_a_program(lab, owner, group, hits):
    program, at = program_of(owner), f"/requesters/{lab.customer_id}/study-links"
    kind = world.make_qualification(lab, "Reader")
    [target] = program.get(f"{at}/targets").json()["items"]
    body = {
        "title": "Tea", "target": target["target"], "compensation": "credit", "id_source": "leeds",
        "granted": kind.qualification_type_id, "granted_value": 5, "id_parameters": ["pid"],
    }  # fmt: skip
    is_problem(program.post(at, body | {"target": "batch:0"}), 422, "refused")
    is_problem(program.post(at, body | {"granted": "NONE"}), 422, "refused")
    is_problem(program.post(f"/lamps/{lab.customer_id}/study-links", body), 404, "not_found")
    made = program.post(at, body)
    assert made.status_code == 201
    assert "/join/" in made.json()["address"]
    row = StudyLink.objects.get()
    assert (row.requester_id, row.granted_value, row.id_source) == (lab.pk, 5, "leeds")
    one = f"{at}/{row.pk}"
    assert program.patch(one, {"quota": 7}).json()["quota"] == 7
    assert program.patch(one, {"closed": True}).json()["closed"]
    assert program.patch(one, {"closed": False}).json()["closed"] == ""
    assert [each["id"] for each in program.get(at).json()["items"]] == [row.pk]
    lines = Activity.objects.filter(requester=lab, action__startswith="link.")
    assert set(lines.values_list("via", "actor")) == {("api", "olga")}
    other = world.make_requester("Other Lab", owner=owner)
    is_problem(program.get(f"/requesters/{other.customer_id}/study-links/{row.pk}"), 404, "not_found")
