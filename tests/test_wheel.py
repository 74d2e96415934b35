"""The wheel: installed into an environment of its own it checks, migrates and serves a page."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import zipfile
from http.client import HTTPConnection
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.repository import ROOT, find_committed_files
from tests.server import free_port

SERVE_SECONDS = 60


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel of this checkout, made from a copy, because a build leaves folders behind."""
    source = tmp_path_factory.mktemp("source")
    for path in find_committed_files():
        name = path.relative_to(ROOT)
        if name.parts[0] not in {"tests", "benchmarks", "docs"} or name.name == "llms.txt":
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, source / name)
    out = tmp_path_factory.mktemp("wheel")
    build = [
        "wheel",
        "--quiet",
        "--no-build-isolation",
        "--no-deps",
        "--no-index",
        "--wheel-dir",
        out,
        source,
    ]
    run(sys.executable, "-m", "pip", *build)
    return next(out.glob("*.whl"))


@pytest.fixture(scope="module")
def installation(wheel, tmp_path_factory):
    """An empty environment with the wheel; what the lock names it takes from the environment of the tests."""
    folder = tmp_path_factory.mktemp("environment")
    run(sys.executable, "-m", "venv", "--without-pip", folder)
    install(folder, wheel)
    packages = next(folder.glob("lib/python*/site-packages"))
    (folder / "lock").mkdir()
    for path in next(Path(sys.prefix).glob("lib/python*/site-packages")).iterdir():
        if not path.name.startswith("distillery"):  # packages of `distributions/`
            (folder / "lock" / path.name).symlink_to(path)
    (packages / "lock.pth").write_text(f"{folder / 'lock'}\n")
    return folder


def install(folder, package):
    """Install a wheel or the sources of one into an environment, and nothing beside it."""
    options = ["--quiet", "--no-deps", "--no-index", "--python", folder / "bin" / "python"]
    run(Path(sys.prefix) / "bin" / "uv", "pip", "install", *options, package)


def run(*command, **options):
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, check=False, **options
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def list_environment(data, **more):
    keep = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
    return {**keep, "DATA_DIR": str(data), "HOME": str(data), **more}


def test_the_wheel_holds_every_template_static_file_and_lock(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    wanted = [path.relative_to(ROOT) for path in find_committed_files()]
    wanted = [name for name in wanted if name.parts[0] in {"templates", "static"}]
    assert len(wanted) > 300
    assert [name for name in wanted if f"distillery/files/{name.as_posix()}" not in names] == []
    assert {"distillery/files/requirements/base.txt", "distillery/files/docs/llms.txt"} <= names
    assert not {name.split("/")[0] for name in names} & {"tests", "benchmarks", "docs", "templates", "static"}


def test_the_wheel_holds_every_file_that_lies_among_the_packages(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    packages = {name.split("/")[0] for name in names if name.endswith("/__init__.py")}
    files = [path.relative_to(ROOT) for path in find_committed_files()]
    missing = [name for name in files if name.parts[0] in packages and name.as_posix() not in names]
    assert missing == []


def test_an_installed_wheel_makes_its_database_serves_a_page_and_stops_in_good_order(installation, tmp_path):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = list_environment(tmp_path / "data", PORT=str(port))
    program = installation / "bin" / "distillery"

    assert "no issues" in run(program, "check", env=environment, cwd=tmp_path)
    with (tmp_path / "server.log").open("wb") as log:
        server = subprocess.Popen([program, "up"], env=environment, cwd=tmp_path, stdout=log, stderr=log)
    try:
        page = read_page(port, "/accounts/login/")
        german = read_page(port, "/accounts/login/?lang=de")
        style = read_page(port, "/static/tokens.css")
    finally:
        server.terminate()
        code = server.wait()
    words = (tmp_path / "server.log").read_text(encoding="utf-8")
    assert (code, words.endswith("Stopped.\n"), "Traceback" in words) == (0, True, False), words
    assert "<h1>Sign in</h1>" in page
    assert "<h1>Anmelden</h1>" in german
    assert "--accent" in style
    assert (tmp_path / "data" / "distillery.sqlite3").exists()


def test_without_the_simulators_of_panels_their_commands_say_what_to_install(installation, tmp_path):
    for command in ("panel-simulator", "demo"):
        done = subprocess.run(
            [installation / "bin" / "distillery", command],
            capture_output=True,
            text=True,
            check=False,
            env=list_environment(tmp_path),
            cwd=tmp_path,
        )
        assert done.returncode == 1
        assert "pip install ./distributions/panel-simulator" in done.stderr


def test_without_a_setting_data_is_kept_in_the_home_folder(installation, tmp_path):
    environment = list_environment(tmp_path)
    del environment["DATA_DIR"]
    show = "from django.conf import settings; print(settings.DATA_DIR, settings.COMMAND[1:])"
    variables = {**environment, "DJANGO_SETTINGS_MODULE": "distillery.settings"}
    shown = run(installation / "bin" / "python", "-P", "-c", show, env=variables, cwd=tmp_path)
    assert shown.strip() == f"{tmp_path / '.distillery'} ['-m', 'distillery']"


def test_the_lines_of_the_readme_lead_to_a_study_and_its_results(installation, tmp_path):
    """Each as it is written there, but for the folder of the program, and a port that is free."""
    first, results = readme_blocks("uv tool install", "results --out")
    judge = first.splitlines()[1].split()
    assert judge[:2] == ["distillery", "judge"]
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    environment = list_environment(tmp_path, PORT=str(free_port()), BROWSER="true")
    program = installation / "bin" / "distillery"
    with subprocess.Popen(
        [program, *judge[1:]], env=environment, cwd=tmp_path, stdout=subprocess.PIPE, text=True
    ) as process:
        words = read_until(process.stdout, "0 opened")
        link = re.search(r"http://\S+/join/\S+", words)[0]
        with urlopen(link) as page:
            assert "agree" in page.read().decode()
        process.send_signal(signal.SIGINT)
    assert process.returncode == 0
    assert "0 ratings of 0 answers" in run(program, *results.split()[1:], env=environment, cwd=tmp_path)
    assert {"results.json", "release"} <= {path.name for path in (tmp_path / "results").iterdir()}


def test_a_package_adds_its_app_and_is_named_where_it_is_missing(installation, tmp_path):
    """The last to use this environment, to which it adds the package."""
    environment = list_environment(tmp_path / "data")
    program = [installation / "bin" / "distillery", "paper", "--list"]
    refused = subprocess.run(
        program, capture_output=True, text=True, check=False, env=environment, cwd=tmp_path
    )
    assert refused.returncode == 1
    assert "distillery-learned, which is not installed: pip install ./distributions/learned" in refused.stderr
    install(installation, ROOT / "distributions" / "learned")
    assert "002  Lee et al. (2021)" in run(*program, env=environment, cwd=tmp_path)


def readme_blocks(*beginnings):
    """The fenced blocks of the README that hold these words."""
    blocks = re.findall(r"^```sh\n(.*?)^```", (ROOT / "README.md").read_text("utf-8"), flags=re.M | re.S)
    return [next(block for block in blocks if words in block) for words in beginnings]


def read_until(lines, words):
    """What a program says up to the line that holds these words."""
    said = []
    for line in lines:
        said.append(line)
        if words in line:
            break
    return "".join(said)


def read_page(port, path):
    """A page, as soon as the server answers."""
    deadline = time.monotonic() + SERVE_SECONDS
    while True:
        connection = HTTPConnection("127.0.0.1", port, timeout=30)
        try:
            connection.request("GET", path)
            return connection.getresponse().read().decode()
        except ConnectionRefusedError:
            assert time.monotonic() < deadline, "the server did not start"
            time.sleep(0.1)
        finally:
            connection.close()
