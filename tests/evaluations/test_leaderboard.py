"""The public leaderboard of a release: who sees it, in which order, and its twins for programs."""

import csv
import io
import re
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from evaluations import leaderboard
from evaluations.report.model import read_report
from releases.models import Release
from tests.evaluations.boards import make_board, make_evaluation
from tests.evaluations.reports import make_report
from tests.releases.shelf_world import make_project, make_release

ADDRESS = "/leaderboards/capitals/1.0.0/"


def system(name: str, mean: float | None, half: float = 0.1) -> dict[str, Any]:
    human = {"value": None, "ci": None, "reason": "no answer of this system has a human score"}
    if mean is not None:
        human = {"value": mean, "ci": [mean - half, mean + half], "n": 30}
    return {"name": name, "inferred": False, "n": 30, "human": human,
            "metrics": {"meteor": {"mean": 1 - (mean or 0) / 10, "corpus": None}}}  # fmt: skip


def report_of(*systems: dict[str, Any]) -> dict[str, Any]:
    return make_report({"meteor": 0.42}) | {"systems": list(systems)}


def ranks(*systems: dict[str, Any]) -> list[tuple[str, int | None]]:
    board = leaderboard.board_of(read_report(report_of(*systems)))
    return [(each.system, each.rank) for each in leaderboard.ordered(board, leaderboard.Order())]


def names(page: str) -> list[str]:
    return re.findall(r'<th scope="row"><bdi>(.*?)</bdi>', page)


def test_systems_that_people_do_not_tell_apart_share_a_rank_and_one_without_a_score_has_none():
    assert ranks(system("a", 4.0), system("b", 3.9), system("c", 3.0), system("d", 2.0)) == [
        ("a", 1), ("b", 1), ("c", 3), ("d", 4),
    ]  # fmt: skip
    assert ranks(system("a", None), system("b", 3.0)) == [("b", 1), ("a", None)]
    assert ranks(system("b", 3.0), system("a", 3.0)) == ranks(system("a", 3.0), system("b", 3.0))


def test_an_order_that_there_is_not_is_best_first_by_people():
    board = leaderboard.board_of(read_report(make_report()))
    for given in ("", "nonsense", "--human", "-", "corpus"):
        assert leaderboard.order_of(board, given) == leaderboard.Order("human", down=True)


@pytest.fixture
def shelf(settings: Any, tmp_path: Path, db: None) -> None:
    settings.RELEASES_STORAGE = str(tmp_path)


@pytest.mark.usefixtures("shelf")
class TestPages:
    def test_everybody_sees_systems_with_their_intervals_and_programs_get_the_same_figures(
        self, django_assert_num_queries
    ):
        make_board()
        with django_assert_num_queries(1):
            page = Client().get(ADDRESS).content.decode()
        assert names(page) == ["unified", "span", "retrieve", "Agreement with people"]
        assert "4.10<small>[3.99, 4.21]</small>" in page
        assert ".422<small>[.362, .482] n\u00a0=\u00a0900</small>" in page
        assert "METEOR agrees best with people" in page
        assert not {"owner", "manager", "viewer"} & set(re.findall(r"\w+", re.sub(r"<[^>]+>", " ", page)))
        assert "/releases/capitals/" not in page  # which a leaderboard does not make public
        assert Client().get("/releases/capitals/1.0.0/").status_code == 404
        answer = Client().get(ADDRESS + "leaderboard.json")
        said = answer.json()
        assert [(each["rank"], each["system"], each["human"]["value"]) for each in said["systems"]] == [
            (1, "unified", 4.1), (2, "span", 3.5), (3, "retrieve", 2.9),
        ]  # fmt: skip
        assert said["metrics"][0] == {
            "name": "meteor", "title": "METEOR", "signature": "metric:meteor|v:1|tok:ptb",
            "value": 0.4225, "ci": [0.3625, 0.4825],
        }  # fmt: skip
        assert said["agreement"] == "Pearson, global"
        again = Client().get(ADDRESS + "leaderboard.json", headers={"If-None-Match": answer["ETag"]})
        assert (again.status_code, again.content) == (304, b"")
        for twin in ("", "leaderboard.json", "leaderboard.csv"):
            assert Client().post(ADDRESS + twin).status_code == 405

    def test_without_the_owners_word_there_is_no_page(self):
        make_evaluation(make_release(make_project()))
        for twin in ("", "leaderboard.json", "leaderboard.csv"):
            assert Client().get(ADDRESS + twin).status_code == 404

    def test_a_public_release_is_linked(self):
        make_board(public=True)
        assert 'href="/releases/capitals/1.0.0/"' in Client().get(ADDRESS).content.decode()

    def test_the_address_says_by_which_column_it_is_sorted(self):
        make_board()
        for by, first, marked in (
            ("-human", "unified", ("People", "descending")),
            ("human", "retrieve", ("People", "ascending")),
            ("system", "retrieve", ("System", "ascending")),
            ("-bleu-4", "unified", ("BLEU-4", "descending")),
            ("bleu-4", "retrieve", ("BLEU-4", "ascending")),
        ):
            page = Client().get(ADDRESS, {"by": by}).content.decode()
            assert names(page)[0] == first, by
            assert re.findall(r'aria-sort="(\w+)"><a[^>]*><bdi>([^<]+)', page) == [marked[::-1]], by

    def test_a_withdrawn_release_says_why_and_shows_no_figure(self):
        board = make_board()
        Release.objects.filter(pk=board.release_id).update(
            state=Release.State.WITHDRAWN, withdrawn_at=timezone.now(), withdrawn_reason="A worker cheated."
        )
        page = Client().get(ADDRESS)
        assert page.status_code == 200
        assert "A worker cheated." in page.content.decode()
        assert "4.10" not in page.content.decode()
        for twin in ("leaderboard.json", "leaderboard.csv"):
            answer = Client().get(ADDRESS + twin)
            assert (answer.status_code, b"A worker cheated." in answer.content) == (410, True)

    def test_a_spreadsheet_runs_no_name(self):
        make_board(make_report({"=1+1": 0.4}, systems=["=cmd()", "<b>"]))
        text = Client().get(ADDRESS + "leaderboard.csv").content.decode()
        rows = list(csv.reader(io.StringIO(text)))
        assert rows[0] == [
            "rank", "system", "answers", "human", "human_low", "human_high", "'=1+1", "'=1+1 corpus",
            "simulated",
        ]  # fmt: skip
        assert [row[1] for row in rows[1:]] == ["'=cmd()", "<b>"]

    def test_hostile_names_are_text(self):
        make_board(make_report({"<script>alert(1)</script>": 0.4}, systems=["<img src=x>", "</table>"]))
        page = Client().get(ADDRESS).content.decode()
        assert "<script>" not in page
        assert "<img src=x>" not in page
        assert "&lt;img src=x&gt;" in page

    def test_a_report_without_systems_or_figures_has_a_page_that_says_why(self):
        make_board(make_report({"meteor": None}, systems=[]))
        page = Client().get(ADDRESS).content.decode()
        assert "The evaluation has no systems." in page
        assert "The scores are all the same." in page
