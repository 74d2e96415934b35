"""What holds for the whole repository: locks, documentation, layout, and what must never be committed."""

import re
import tomllib
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest
from django.db.migrations.loader import MigrationLoader

from tests import mutants, names, package_map, references
from tests.repository import ROOT, find_added_apps, find_anchors, find_variables, list_packages, read_texts
from tests.upgrades import contraction
from tests.upgrades.landed import UNRELEASED, digest_migrations, find_faults, read_landed

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
LONGEST_MODULE = 800
LONGEST_TEMPLATE_LINE = 160
#: Words of a page of the documentation.
LONGEST_PAGE = 3000
LONGEST_ARCHITECTURE = 1100

# Joined from parts, so that this file does not hold what it looks for.
REGISTRIES = [
    ".".join(parts)
    for parts in (
        ("pypi", "org"),
        ("python" + "hosted", "org"),
        ("registry", "npmjs"),
        ("registry", "yarnpkg"),
        ("deb", "debian", "org"),
        ("archive", "ubuntu", "com"),
        ("conda", "anaconda", "org"),
        ("docker", "io"),
        ("gcr", "io"),
        ("quay", "io"),
    )
]
CHECKOUTS = ["/".join(parts) for parts in (("", "work", "main"), ("", "work", "shared"), ("", "root", ""))]


def documentation() -> str:
    """README and docs in one text."""
    return "\n".join(text for name, text in read_texts() if name.endswith(".md"))


def code_in(markdown: str) -> str:
    """Only the code of a page: fenced blocks and words in backticks, a line each."""
    fenced = re.findall(r"^```\w*\n(.*?)^```", markdown, flags=re.MULTILINE | re.DOTALL)
    rest = re.sub(r"^```\w*\n.*?^```", "", markdown, flags=re.MULTILINE | re.DOTALL)
    return "\n".join([*fenced, *re.findall(r"`([^`\n]+)`", rest)])


def test_no_file_names_a_package_registry():
    found = [(name, host) for name, text in read_texts() for host in REGISTRIES if host in text]
    assert found == []


def test_no_file_names_a_folder_of_somebodys_machine():
    found = [(name, folder) for name, text in read_texts() for folder in CHECKOUTS if folder in text]
    assert found == []


def test_every_locked_requirement_has_hashes(subtests):
    for name in ["base", "dev", "torch", "opensearch", "otel", "mcp", "clients"]:
        with subtests.test(name=name):
            text = (ROOT / f"requirements/{name}.txt").read_text(encoding="utf-8").replace("\\\n", " ")
            requirements = [
                line for line in text.splitlines() if line.strip() and not line.strip().startswith("#")
            ]
            assert len(requirements) > 10
            for requirement in requirements:
                assert re.match(r"[a-z0-9][a-z0-9.\[\]_-]*==\S+ .*--hash=sha256:[0-9a-f]{64}", requirement), (
                    requirement
                )


def test_a_lock_holds_every_package_that_was_asked_for(subtests):
    for name in ["base", "dev", "torch", "opensearch", "otel", "mcp", "clients"]:
        with subtests.test(name=name):
            asked = (ROOT / f"requirements/{name}.in").read_text(encoding="utf-8").splitlines()
            locked = set(re.findall(r"^([a-z0-9._-]+)(?:\[.*\])?==", locked_text(name), flags=re.MULTILINE))
            names = {re.split(r"[\[<>=]", line)[0] for line in asked if line and line[0] not in "#-"}
            assert names <= locked


def test_all_locks_hold_the_same_versions():
    def versions(name):
        return dict(re.findall(r"^([a-z0-9._-]+)(?:\[.*\])?==(\S+)", locked_text(name), flags=re.MULTILINE))

    assert versions("base").items() <= versions("dev").items()
    assert versions("opensearch").items() <= versions("dev").items()
    assert versions("otel").items() <= versions("dev").items()
    assert versions("mcp").items() <= versions("dev").items()


def test_pytorch_is_one_release_with_cuda_and_without_and_only_its_own_lock_brings_cuda():
    asked = re.search(r"^torch==(\S+)$", (ROOT / "requirements/torch.in").read_text(), flags=re.MULTILINE)
    assert asked is not None
    assert f"torch=={asked[1]} " in locked_text("torch")
    assert f"torch=={asked[1]}+cpu " in locked_text("torch-cpu")
    assert f'version = "{asked[1]}"' in (ROOT / "requirements/dev.toml").read_text()
    assert not re.findall(r"^(?:torch|nvidia-|cuda-|triton)", locked_text("dev"), flags=re.MULTILINE)


def locked_text(name: str) -> str:
    return (ROOT / f"requirements/{name}.txt").read_text(encoding="utf-8")


def test_every_package_stands_in_the_import_contract_the_type_check_and_the_package():
    importlinter = PROJECT["tool"]["importlinter"]
    layers = [package for layer in importlinter["contracts"][0]["layers"] for package in layer.split(" | ")]
    packaged = PROJECT["tool"]["setuptools"]["packages"]["find"]["include"]
    assert sorted(importlinter["root_packages"]) == sorted([*list_packages(), *find_added_apps()])
    assert sorted(layers) == sorted([*list_packages(), *find_added_apps()])
    assert sorted(pattern.removesuffix("*") for pattern in packaged) == list_packages()
    assert {*list_packages(), *find_added_apps().values()} <= set(PROJECT["tool"]["mypy"]["files"])


def test_no_module_imports_itself_by_way_of_others():
    graph = grimp.build_graph(*list_packages(), *find_added_apps(), "benchmarks", cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as circle:
        pytest.fail(" imports ".join(reversed(circle.args[1])))


def test_the_page_of_settings_names_every_environment_variable():
    page = (ROOT / "docs/settings.md").read_text(encoding="utf-8")
    variables = find_variables().keys() - {"DJANGO_SETTINGS_MODULE"}
    assert {"DATA_DIR", "SECRET_KEY", "DATABASE_URL", "MARKETPLACE_TEST_TOKEN"} <= variables
    assert sorted(name for name in variables if f"`{name}`" not in page) == []


def test_every_command_is_documented():
    commands = {
        Path(name).stem
        for name, _ in read_texts()
        if re.fullmatch(r"(core/|examples/)?\w+/management/commands/[a-z]\w*\.py", name)
        and name.split("/")[0] in list_packages()
    }
    assert commands
    code = code_in(documentation())
    assert sorted(name for name in commands if not re.search(rf"manage\.py {name}\b", code)) == []


def test_every_make_target_in_the_documentation_exists():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z][a-z-]*):", makefile, flags=re.MULTILINE))
    call = re.compile(r"(?:^|\$ |&& |; |\b[A-Z]+=\S* )make ([a-z][a-z-]*)", flags=re.MULTILINE)
    named = set(call.findall(code_in(documentation())))
    assert {"env", "demo", "test", "check"} <= targets
    assert sorted(named - targets) == []


def test_every_make_target_is_explained_by_make_help():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    phony = re.search(r"^\.PHONY: (.*)$", makefile, flags=re.MULTILINE)[1].split()
    explained = re.findall(r"^([a-z-]+):.* ## ", makefile, flags=re.MULTILINE)
    assert sorted(explained) == sorted(phony)


def test_links_between_pages_lead_somewhere():
    dead = []
    for name, text in read_texts():
        if not name.endswith(".md"):
            continue
        for target, anchor in re.findall(
            r"\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]*))?\)", re.sub("`[^`\n]*`", "", text)
        ):
            path = (ROOT / name).parent / target if target else ROOT / name
            if not path.exists():
                dead.append((name, target))
            elif anchor and anchor not in find_anchors(path.read_text(encoding="utf-8")):
                dead.append((name, f"{target}#{anchor}"))
    assert dead == []


def test_every_page_of_the_documentation_is_in_its_index():
    index = (ROOT / "docs/README.md").read_text(encoding="utf-8")
    pages = {path.name for path in (ROOT / "docs").glob("*.md")} - {"README.md"}
    assert sorted(page for page in pages if f"]({page})" not in index) == []


def test_prose_names_modules_and_files_that_are_there():
    assert references.find_faults() == []


@pytest.mark.parametrize("page", package_map.PAGES, ids=lambda page: page.name)
def test_the_map_of_packages_is_as_the_code_has_it(page):
    text = page.read_text(encoding="utf-8")
    assert package_map.build_page(text, package_map.PAGES[page]) == text, "Run `make package-map`."


def test_the_page_of_the_architecture_is_short():
    assert len((ROOT / "docs/architecture.md").read_text(encoding="utf-8").split()) <= LONGEST_ARCHITECTURE


def test_no_page_of_the_documentation_takes_longer_to_read_than_a_quarter_of_an_hour():
    pages = (ROOT / "docs").glob("*.md")
    words = {page.name: len(page.read_text(encoding="utf-8").split()) for page in pages}
    assert {name: count for name, count in words.items() if count > LONGEST_PAGE} == {}


def test_a_message_or_page_names_only_pages_of_the_documentation_that_exist():
    named = {
        (name, page)
        for name, text in read_texts()
        if name.endswith((".py", ".html", ".toml", ".yml", ".yaml", ".ini", ".css"))
        and not name.startswith("tests/")
        for page in re.findall(r"(?<![\w./])docs/[\w/-]+\.md", text)
    }
    assert sorted((name, page) for name, page in named if not (ROOT / page).exists()) == []


def test_no_class_module_or_function_gets_a_name_that_says_nothing():
    assert names.find_faults() == [], "Choose a noun (docs/glossary.md), or a verb with its object."


@pytest.mark.parametrize(
    ("word", "refused"),
    [
        *[(word, True) for word in ("Shown", "Asked", "Anew", "Waiting", "passed", "together", "gathering")],
        *[(word, False) for word in ("Seed", "FilterPreview", "ranking", "judging", "needs", "asked_for")],
    ],
)
def test_a_bare_participle_is_told_from_a_noun(word, refused):
    assert names.is_participle(word) == refused


def test_no_module_is_longer_than_a_reader_can_hold():
    outside = ("tests/", "benchmarks/")
    lengths = {
        name: text.count("\n")
        for name, text in read_texts()
        if name.endswith(".py") and not name.startswith(outside) and "/migrations/" not in name
    }
    assert {name: length for name, length in lengths.items() if length > LONGEST_MODULE} == {}


def test_lines_of_templates_fit_a_screen():
    found = [
        f"{name}:{number}"
        for name, text in read_texts()
        # In a text, such as a letter or what a terminal shows, a break would be one for the reader.
        if name.startswith("templates/") and not name.endswith(".txt")
        for number, line in enumerate(text.splitlines(), 1)
        if len(line) > LONGEST_TEMPLATE_LINE
    ]
    assert found == []


def test_migrations_that_have_landed_are_never_edited():
    assert find_faults(read_landed(), digest_migrations()) == []


def test_migrations_since_the_last_version_take_nothing_from_it():
    landed = {one.key: one.version for one in read_landed().values()}
    loader = MigrationLoader(None)
    released = [key for key in loader.graph.nodes if landed.get(key, "") != UNRELEASED]
    plan = loader.graph._generate_plan(loader.graph.leaf_nodes(), at_end=True)
    unreleased = [loader.graph.nodes[key] for key in plan if landed.get(key) == UNRELEASED]
    found = dict(contraction.find_contractions(loader.project_state(released), unreleased))
    too_early = [
        sentence for name, sentence in found.items() if contraction.DUE.get(name) not in landed.values()
    ]
    assert too_early == []
    assert sorted(contraction.DUE.keys() - found.keys()) == [], "listed, and no operation of that name is due"


def test_the_forty_mutants_fit_the_code_as_it_is():
    sources = {
        file: (ROOT / file).read_text(encoding="utf-8") for file in {each.file for each in mutants.MUTANTS}
    }
    matches = {each.name: sources[each.file].count(each.text) for each in mutants.MUTANTS}
    assert {name: count for name, count in matches.items() if count != 1} == {}
    assert len(matches) == 40
    assert {test for each in mutants.MUTANTS for test in each.tests if not (ROOT / test).is_file()} == set()
