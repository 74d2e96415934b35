"""Scripted workers made many at a time, from the command line."""

import io
import json

import pytest
from django.core.management import CommandError, call_command

from marketplace import ids
from marketplace.models import Worker

pytestmark = pytest.mark.django_db


def create(*arguments: str):
    said = io.StringIO()
    call_command("marketplace", "worker", "create", *arguments, "--json", stdout=said)
    return json.loads(said.getvalue())


def test_one_command_makes_many_workers_each_with_a_token_of_their_own():
    made = create("robot", "--count", "3", "--country", "US")
    assert [worker["name"] for worker in made] == ["robot 1", "robot 2", "robot 3"]
    assert create("robot")["name"] == "robot"
    stored = {worker.worker_id: worker for worker in Worker.objects.filter(simulated=True)}
    for worker in made:
        assert stored[worker["worker_id"]].token_digest == ids.digest(worker["token"])
        assert stored[worker["worker_id"]].country == "US"


def test_where_one_name_is_taken_none_is_made():
    create("robot 2")
    with pytest.raises(CommandError, match="already a worker named 'robot 2'"):
        create("robot", "--count", "3")
    assert Worker.objects.count() == 1


@pytest.mark.parametrize("count", ["0", "-1", "10001"])
def test_a_count_out_of_bounds_is_refused(count):
    with pytest.raises(CommandError, match="from 1 to 10,000"):
        create("robot", f"--count={count}")


def test_for_people_it_is_printed_line_by_line():
    said = io.StringIO()
    call_command("marketplace", "worker", "create", "robot", "--count", "2", stdout=said)
    assert said.getvalue().count("token") == 2
