"""`manage.py demo` for real: from an empty folder to a marketplace with work in it, and away again."""

import hashlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from urllib.parse import urlencode, urljoin

import boto3
import pytest
from botocore.config import Config

from tests.clients import ask
from tests.server import ROOT, free_port

#: A minute or two on a machine of its own; others may be building beside, and it has taken five and a half.
TIMEOUT = 840
#: Whole campaigns over all three sources go on PostgreSQL in `tests/study`.
pytestmark = [pytest.mark.only_on("sqlite"), pytest.mark.timeout(TIMEOUT + 60)]


class Demo:
    """One run of the command; its words are collected while it runs."""

    def __init__(self, data_dir: Path, **variables: str) -> None:
        self.folder = data_dir / "demo"
        environment = {**os.environ, "DATA_DIR": str(data_dir), "COLUMNS": "200", **variables}
        environment.pop("REDIS_URL", None)
        self.process = subprocess.Popen(
            [sys.executable, str(ROOT / "manage.py"), "demo"],
            cwd="/",
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.words = ""
        self._over = False
        self._heard = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._heard:
                self.words += line
                self._heard.notify_all()
        with self._heard:
            self._over = True
            self._heard.notify_all()

    def wait_for(self, words: str) -> None:
        """Until the command has printed these words."""
        with self._heard:
            assert self._heard.wait_for(lambda: words in self.words or self._over, TIMEOUT), self.words
        assert words in self.words
        assert self.process.poll() is None, self.words

    def wait_until_served(self) -> None:
        self.wait_for("Ctrl-C")

    def finish(self) -> int:
        code = self.process.wait(TIMEOUT)
        self._reader.join()
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code

    def stop(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.finish()

    @property
    def summary(self) -> dict:
        return json.loads((self.folder / "summary.json").read_text(encoding="utf-8"))

    @property
    def client(self):
        """A client made from the line that the command printed."""
        said = re.search(
            r'endpoint_url="([^"]+)", region_name="([^"]+)", aws_access_key_id="([^"]+)", '
            r'aws_secret_access_key="([^"]+)"',
            self.words,
        )
        assert said, self.words
        return boto3.client(
            "mturk",
            endpoint_url=said[1],
            region_name=said[2],
            aws_access_key_id=said[3],
            aws_secret_access_key=said[4],
            config=Config(proxies={}),
        )


@pytest.fixture(scope="module")
def demo(tmp_path_factory) -> Demo:
    """A demonstration that is being served."""
    running = Demo(tmp_path_factory.mktemp("data"), PORT=str(free_port()))
    try:
        running.wait_until_served()
        yield running
    finally:
        if running.process.poll() is None:
            running.stop()


def cents(amount: str) -> int:
    return round(float(amount) * 100)


def posted(client) -> list[dict]:
    """The HITs that the lab's script posted."""
    pages = client.get_paginator("list_hits").paginate()
    return [hit for page in pages for hit in page["HITs"] if hit["RequesterAnnotation"].startswith("demo ")]


def test_it_posts_ten_hits_that_a_script_can_see(demo):
    hits = posted(demo.client)
    assert len(hits) == demo.summary["hits_posted"] == 10
    assert {hit["MaxAssignments"] for hit in hits} == {3}
    assert demo.summary["assignments_offered"] == 30


def test_the_money_of_all_stages_is_the_marketplaces_to_the_cent(demo):
    balance, summary = demo.client.get_account_balance(), demo.summary
    assert cents(balance["AvailableBalance"]) == summary["available_cents"]
    assert cents(balance["OnHoldBalance"]) == summary["held_cents"]
    stages = summary["stages"]
    assert summary["deposited_cents"] == 200_00
    [here] = [each for each in summary["sources"]["books"] if each["source"] == "marketplace"]
    assert summary["paid_cents"] == 50 + here["paid_cents"] + sum(stage["paid_cents"] for stage in stages)
    assert summary["fees_cents"] == 10 + here["fee_cents"] + sum(stage["fee_cents"] for stage in stages)
    assert summary["held_cents"] == sum(
        [29 * 60, summary["batch"]["held_cents"], *(stage["reserved_cents"] for stage in stages)]
    )
    spent = summary["held_cents"] + summary["paid_cents"] + summary["fees_cents"]
    assert summary["available_cents"] + spent == summary["deposited_cents"]
    assert "DIFFER" not in demo.words


def test_one_assignment_has_a_history(demo):
    client = demo.client
    hits = posted(client)
    done = [
        assignment
        for hit in hits
        for assignment in client.list_assignments_for_hit(HITId=hit["HITId"])["Assignments"]
    ]
    assert [assignment["AssignmentStatus"] for assignment in done] == ["Approved"]
    assert "A script wrote this answer" in done[0]["Answer"]
    assert demo.summary["assignments_done"] == 1


def test_a_batch_of_the_lab_waits_for_review(demo):
    batch = demo.summary["batch"]
    assert (batch["tasks"], batch["submitted"], batch["held_cents"]) == (5, 14, 15 * 6)
    pages = demo.client.get_paginator("list_hits").paginate()
    tasks = [hit for page in pages for hit in page["HITs"] if "HTMLQuestion" in hit["Question"]]
    assert len(tasks) == 5
    work = [
        assignment
        for hit in tasks
        for assignment in demo.client.list_assignments_for_hit(HITId=hit["HITId"])["Assignments"]
    ]
    assert {assignment["AssignmentStatus"] for assignment in work} == {"Submitted"}
    assert len(work) == 14
    assert "pleased" in work[0]["Answer"]


def test_the_poll_was_done_by_simulated_workers_and_its_books_agree_with_the_marketplaces(demo):
    poll = demo.summary["poll"]
    assert poll["units"] == 10
    assert poll["assignments"] >= poll["approved"] >= 8
    assert poll["simulated_workers"] >= 8
    assert poll["spent_rewards_cents"] == poll["approved"] * 8 == poll["marketplace_paid_cents"]
    assert poll["spent_fees_cents"] == poll["approved"] * 2 == poll["marketplace_fees_cents"]
    assert 0 <= poll["reserved_cents"] <= poll["budget_cents"]
    assert "agree to the cent" in demo.words


def stages_of(demo: Demo, project: str) -> dict[str, dict]:
    """Stages of the summary by their short names; `project` without the number of a later run."""
    found = {}
    for stage in demo.summary["stages"]:
        slug, _, name = stage["stage"].partition("/")
        if re.fullmatch(rf"{project}(-\d+)?", slug):
            found[name] = stage
    return found


def test_the_finished_campaign_has_nothing_left_to_do(demo):
    summary, stages = demo.summary, stages_of(demo, "answers")
    assert list(stages) == ["screening", "curation", "distillation", "judging"]
    assert {stage["status"] for stage in stages.values()} == {"closed"}
    for stage in stages.values():
        assert stage["assignments"] == stage["approved"] + stage["rejected"] > 0
        assert stage["paid_cents"] > stage["fee_cents"] > 0
        assert stage["reserved_cents"] == 0
        assert stage["wall_seconds"] > 0
    assert stages["distillation"]["rejected"] == 1
    answers = summary["answers"]
    assert answers["passages"] == 598
    assert sum(answers["queries"].values()) == 24, "and a rule of the import drops one"
    assert set(answers["queries"]) <= {"answered", "excluded", "unanswerable"}
    assert stages["screening"]["units"] == 24
    assert stages["distillation"]["units"] >= answers["queries"]["answered"] >= 12
    assert answers["answers"] >= 4 * answers["queries"]["answered"]
    assert set(answers["states"]) == {"approved", "excluded"}


def test_its_release_is_built_public_and_verifies(demo, tmp_path):
    release = demo.summary["release"]
    folder = Path(release["path"])
    assert folder.is_dir()
    assert demo.folder in folder.parents
    manifest = folder / "manifest.json"
    assert hashlib.sha256(manifest.read_bytes()).hexdigest() == release["digest"]
    assert release["findings"] >= 1
    checked = subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), "release", "verify", str(folder)],
        env={**os.environ, "DATA_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
    page = ask("GET", release["url"].replace("localhost", "127.0.0.1"))
    assert page.status == 200
    assert release["version"] in page.text
    everything = "".join(file.read_text("utf-8") for file in folder.rglob("*.jsonl"))
    assert "economics-desk@example.org" not in everything


def test_its_release_is_evaluated_and_has_a_public_leaderboard(demo):
    evaluation = demo.summary["evaluation"]
    assert evaluation["metrics"] == ["bleu-1", "chrf", "meteor", "rouge-l"]
    assert evaluation["best"] in evaluation["metrics"]
    assert evaluation["answers"] >= 12
    page = ask("GET", evaluation["url"].replace("localhost", "127.0.0.1"))
    assert page.status == 200
    assert "BLEU-1" in page.text


def test_the_other_campaign_is_in_the_middle_of_its_work(demo):
    middle, stages = demo.summary["middle"], stages_of(demo, "more")
    states = {name: stage["status"] for name, stage in stages.items()}
    assert states == {"screening": "open", "curation": "open", "distillation": "open", "judging": "draft"}
    assert middle["ties"] >= 1
    assert middle["flagged"] >= 1
    assert middle["answers_to_review"] >= middle["flagged"]
    assert middle["work_to_decide"] >= 1
    assert middle["open_hits"] >= 3
    assert middle["queries"]["waiting"] >= 4
    assert 0 < stages["distillation"]["assignments"] < 3 * stages["distillation"]["units"]


def test_two_systems_were_judged_filtered_and_topped_up_and_the_report_tells_them_apart(demo):
    judging = demo.summary["judging"]
    assert set(judging["candidates"]) == {"sample-a", "sample-b"}
    assert 12 <= min(judging["candidates"].values()) <= 16
    assert judging["set_aside"] >= 1
    assert judging["judgments"] >= 9 * sum(judging["candidates"].values())
    assert judging["judges"] > 15
    assert judging["removed_judges"] >= 1
    assert judging["topped_up"] >= 1
    assert judging["means"]["sample-a"] > judging["means"]["sample-b"] + 1
    assert judging["alpha_before"] < judging["alpha_after"]
    assert judging["alpha_cross_fitted"] > judging["alpha_before"]
    assert judging["reliability"] > 0.8
    assert "so others are asked in" in demo.words
    assert demo.summary["alpha"] == {
        "before": judging["alpha_before"],
        "after": judging["alpha_after"],
        "cross_fitted": judging["alpha_cross_fitted"],
    }
    assert demo.summary["filters"]["removed_judges"] == judging["removed_judges"]
    assert demo.summary["filters"]["topped_up_hits"] == judging["topped_up"]


def test_a_study_of_two_stages_over_three_sources_ends_in_one_release(demo):
    """People of the marketplace, of a link and of a simulated panel each did a part of both stages."""
    study = demo.summary["sources"]
    assert study["stages"] == ["answers", "judging"]
    assert (study["answers"], study["judgments"]) == (12, 24)
    assert {each["source"]: each["answers"] for each in study["books"]} == {
        "marketplace": 5,
        "link": 5,
        "panel": 5,
    }
    assert min(each["people"] for each in study["books"]) >= 3
    folder = Path(study["release"]["path"])
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    rows = {table["name"]: sum(table["rows"].values()) for table in manifest["tables"]}
    assert (rows["answers"], rows["ratings"]) == (12, 24)
    lines = (folder / "jsonl" / "sources-train.jsonl").read_text("utf-8").splitlines()
    places = {re.sub(r"-\d+$", "", json.loads(line)["source"]) for line in lines}
    assert places == {"demo", "links", "panel"}


def test_the_books_of_all_three_sources_agree_to_the_cent(demo):
    study = demo.summary["sources"]
    assert study["agree"] is True
    for each in study["books"]:
        assert each["paid_cents"] == each["their_paid_cents"] == each["planned_cents"] > 0
        assert each["their_planned_cents"] in (None, each["planned_cents"])
        assert each["their_fee_cents"] in (None, each["fee_cents"])
    assert "The books of all 3 agree to the cent: yes" in demo.words


def test_its_link_is_open_to_whoever_looks_at_the_demonstration(demo):
    study = demo.summary["sources"]
    assert study["link"] in demo.words
    assert study["link_page"] in demo.words
    consent = ask("GET", study["link"].replace("localhost", "127.0.0.1"))
    assert consent.status == 200
    state, text = (re.search(rf'name="{name}" value="([^"]+)"', consent.text)[1] for name in ("v", "text"))
    agreed = ask(
        "POST",
        f"{study['link'].replace('localhost', '127.0.0.1')}agree/",
        body=urlencode({"v": state, "text": text, "agree": "yes"}).encode(),
        headers={"Content-Type": "application/x-www-form-urlencoded"},
    )
    assert agreed.status == 303
    onward = ask("GET", urljoin(study["link"].replace("localhost", "127.0.0.1"), agreed.headers["location"]))
    assert "/task/" in onward.headers["location"]


def test_its_task_pages_can_be_opened(demo):
    question = posted(demo.client)[0]["Question"]
    found = re.search(r"<ExternalURL>([^<]+)</ExternalURL>", question)
    assert found
    answer = ask("GET", found[1].replace("localhost", "127.0.0.1"))
    assert answer.status == 200
    assert "accept the task first" in answer.text


def test_it_prints_three_links_and_the_password(demo):
    url = demo.summary["url"]
    assert re.search(rf"researcher +{url}/desk/projects/answers(-\d+)?/ +log in as admin", demo.words)
    assert re.search(rf"requester +{url}/requester/[A-Z0-9]+/ ", demo.words)
    assert re.search(rf"worker +{url}/ +log in as ada", demo.words)
    assert len(re.findall(r"\b\w{4}-\w{4}-\w{4}-\w{4}\b", demo.words)) == 1


def test_a_second_one_in_the_same_folder_is_refused(demo):
    second = Demo(demo.folder.parent, SERVE="0")
    assert second.finish() == 1
    assert "already running" in second.words
    assert demo.process.poll() is None


def test_ctrl_c_ends_it_and_its_server_and_another_run_starts_anew(demo):
    """The other run repeats the first, and is ended early."""
    url = demo.summary["url"].replace("localhost", "127.0.0.1")
    assert ask("GET", f"{url}/health/").status == 200
    assert demo.stop() == 0, demo.words
    with pytest.raises(OSError):
        ask("GET", f"{url}/health/")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        again = Demo(demo.folder.parent, SERVE="0", PORT=str(port))
        again.wait_for("10 HITs posted by boto3")
        assert again.stop() == 0, again.words
    assert (again.folder.parent / "demo-previous" / "summary.json").exists()
    assert f"Port {port} is taken; using " in again.words
    served = re.search(r"The server answers on (\S+)", again.words)
    assert served
    with pytest.raises(OSError):
        ask("GET", served[1].replace("localhost", "127.0.0.1"))
