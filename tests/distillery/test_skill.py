"""The page for agents who run a study: every command on it is one, and every address is the API's."""

import json
import re
import shlex

from django.core.management import get_commands, load_command_class

from tests.repository import ROOT

PAGE = (ROOT / "docs/skill.md").read_text(encoding="utf-8")
COMMANDS = sorted(set(re.findall(r"manage\.py ([a-z-]+ [^`|#)\n]*)", PAGE)))


def test_every_command_of_the_page_is_taken(subtests):
    for line in COMMANDS:
        name, *arguments = shlex.split(line)
        with subtests.test(line=line):
            command = load_command_class(get_commands()[name], name)
            command.create_parser("manage.py", name).parse_args(arguments)


def test_every_address_of_the_page_is_one_of_the_api():
    paths = json.loads((ROOT / "docs/openapi.json").read_text(encoding="utf-8"))["paths"]
    known = [re.sub(r"\{\w+\}", "[^/]+", path).replace(".", r"\.") for path in paths]
    named = set(re.findall(r"\$API(/[\w./-]+)", PAGE))
    assert len(named) > 10
    assert {
        path
        for path in named
        if not any(re.fullmatch(f"/api/v1{each}|{each}", f"/api/v1{path}") for each in known)
    } == set()
