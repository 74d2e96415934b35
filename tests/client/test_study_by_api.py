"""The script and the notebook of `examples/`, against an installation with web server, worker and timer."""

import asyncio
import subprocess
import sys

import nbformat
import pytest
from distillery_client import ApiError, AsyncClient, Client, RetryPolicy

from tests.client.faulty_proxy import FAULTS, FaultyProxy
from tests.client.notebook import NOTEBOOK, run_notebook, shape_of, text_of
from tests.client.running import ClientInstallation
from tests.repository import ROOT

pytestmark = [pytest.mark.only_on("linux"), pytest.mark.only_on("sqlite"), pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def installation(tmp_path_factory):
    made = ClientInstallation(tmp_path_factory.mktemp("api"))
    try:
        made.start()
        yield made
    finally:
        made.stop()


@pytest.mark.long
def test_the_example_runs_a_study_from_queries_to_an_evaluation(installation):
    command = [sys.executable, str(ROOT / "examples" / "api_study.py")]
    done = subprocess.run(
        command, env=installation.environment(), capture_output=True, text=True, check=False, timeout=500
    )
    assert done.returncode == 0, done.stderr + installation.inside.words()[-3000:]
    assert "4 queries." in done.stdout
    assert "Release 1.0.0: " in done.stdout and "best metric" in done.stdout


def test_long_files_and_rows_of_unknown_length_come_in_over_http(installation, tmp_path):
    """What the web server in front of the application could refuse or lose."""
    log = tmp_path / "log.csv"
    log.write_bytes(b"query\n" + b"what is tea?\n" * 500_000)
    with Client(installation.url, installation.token) as client:
        client.create_project({"slug": "long", "title": "Long", "budget_cents": 0})
        assert client.project("long").upload(log).bytes == log.stat().st_size > 5 << 20
        rows = (f'{{"id": "q{number}", "text": "tea number {number}"}}\n'.encode() for number in range(50))
        upload = client.upload_file("long", rows, name="rows.jsonl")
        job = client.import_queries("long", {"upload": upload.sha256, "start_at": "screening"})
        client.project("long").wait(job.job)
        assert len(client.project("long").queries().to_list()) == 50
    with Client(installation.url, "dst_wrong") as client, pytest.raises(ApiError, match="no such token"):
        client.project("long").upload(log)


@pytest.mark.long
def test_what_is_lost_on_the_way_is_done_once(installation, tmp_path):
    """One request in four is refused, lost, answered in vain or cut; by both clients, many at once."""
    retry = RetryPolicy(attempts=12, first_pause_s=0.01)
    log = tmp_path / "log.csv"
    log.write_text("query,id\n" + "".join(f"чай 水 {number},q{number}\n" for number in range(300)))

    async def ask(url):
        async with AsyncClient(url, installation.token, retry=retry) as client:
            project = client.project("lossy")
            tables = (project.queries().to_list() for _ in range(4))
            twin = {"slug": "lossy-twin", "title": "Twin"}
            twins = (client.create_project(twin, idempotency_key="one-twin") for _ in range(6))
            return await asyncio.gather(*tables), await asyncio.gather(*twins)

    with FaultyProxy(installation.url, share=0.25, seed=7) as proxy:
        with Client(proxy.url, installation.token, retry=retry) as client:
            for number in range(10):
                client.create_project({"slug": f"lossy-{number}", "title": "Lossy"})
            client.create_project({"slug": "lossy", "title": "Lossy"})
            report = client.project("lossy").import_queries(log, start_at="screening").report
            seen = [each.key for each in client.pages(client.list_queries, "lossy", limit=20)]
        tables, twins = asyncio.run(ask(proxy.url))
    assert report["stored"] == len(set(seen)) == len(seen) == 300
    assert [len(rows) for rows in tables] == [300] * 4 and tables[0][0]["text"] == "чай 水 0"
    assert {each.slug for each in twins} == {"lossy-twin"}
    assert set(proxy.faults) == {"", *FAULTS}, "each fault was met"


@pytest.fixture(scope="module")
def notebook(installation):
    """Run after the script: beside it, both would ask the same simulated workers."""
    return run_notebook(installation)


@pytest.mark.long
def test_every_cell_of_the_notebook_does_what_its_reader_sees(notebook):
    committed = nbformat.read(NOTEBOOK, as_version=4)
    for cell, seen in zip(notebook.cells, committed.cells, strict=True):
        assert shape_of(cell) == shape_of(seen), (
            "run `python -m tests.client.notebook`, and commit the notebook"
        )
    assert "ROUGE-L" in text_of(notebook.cells[-3])


@pytest.mark.long
def test_the_hubs_library_opens_a_table(installation, notebook, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with Client(installation.url, installation.token) as client:
        release = client.project("notebook").newest_release()
        scores = release.load_dataset("scores", split="train", cache_dir=str(tmp_path / "arrow"))
        assert len(scores) == len(release.scores().to_list()) > 0
        assert (scores.features["mean"].dtype, scores.features["n_kept"].dtype) == ("float64", "int64")
        assert set(release.load_dataset("scores", cache_dir=str(tmp_path / "arrow"))) == {"train"}
        with pytest.raises(ApiError, match="has no 'nothing': as jsonl it has answers, candidates"):
            release.load_dataset("nothing")
