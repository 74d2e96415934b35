"""Commands, addresses, tasks, environment variables and tables are those of the snapshots."""

import pytest

from tests.contracts import surface
from tests.contracts.snapshots import check_snapshot, list_snapshots


@pytest.mark.parametrize("name", surface.list_commands())
def test_a_command_has_the_options_it_had(name):
    check_snapshot(f"commands/{name}", surface.render_command(name))


def test_every_command_that_was_there_is_still_there():
    assert sorted(list_snapshots("commands") - set(surface.list_commands())) == []


def test_every_address_has_the_name_and_the_path_it_had():
    check_snapshot("urls", surface.render_urls())


def test_tasks_queues_timetable_and_kinds_of_jobs_are_those_that_were():
    check_snapshot("jobs", surface.render_jobs())


def test_the_environment_variables_are_those_that_were():
    check_snapshot("environment", surface.render_variables())


def test_apps_tables_columns_constraints_and_indexes_are_those_that_were():
    check_snapshot("schema", surface.render_schema())


def test_the_python_client_has_the_names_it_had():
    check_snapshot("client", surface.render_client())
