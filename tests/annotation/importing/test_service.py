"""What an import leaves in the database: all of it, or nothing."""

import json
from importlib import import_module

import pytest
from django.apps import apps
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.importing.records import plain_digest, query_digest
from annotation.importing.selection import Design
from annotation.models import CandidatePassage, CuratedSet, Query, QuerySource, QueryStep
from annotation.services import importing
from annotation.services.importing import ImportRefusedError, Options, import_queries, preview
from core.projects.models import Event
from core.projects.services import create_project
from tests.annotation.importing.test_formats import CHINESE, MARCO

pytestmark = pytest.mark.django_db
EVERYTHING = (QuerySource, Query, CandidatePassage, CuratedSet, QueryStep)


@pytest.fixture
def project():
    return create_project(slug="answers", title="Answers")


def nothing_there():
    return [model.objects.count() for model in EVERYTHING] == [0] * 5 and not Event.objects.filter(
        action="queries.imported"
    )


def test_a_sampled_query_knows_its_count_weight_line_and_source(project, write):
    path = write("log.csv", "query,count\nWho is he,3\nwho is  HE,2\nwhat is it,1\n")
    report = import_queries(project=project, path=path)
    source = QuerySource.objects.get()
    query = Query.objects.get(text="Who is he")
    facts = (query.count, query.weight, query.line, query.source, query.status)
    assert facts == (5, 1.0, 2, source, "waiting")
    assert query.key == f"q-{query.digest[:16]}"
    assert (source.state, source.name, source.format, report["stored"]) == ("ready", "log.csv", "csv", 2)
    assert (source.report["distinct"], len(source.sha256)) == (2, 64)


def test_typographic_marks_and_wide_letters_make_no_other_query_of_a_file(project, write):
    rows = [
        ("1", "What\u2019s a co\u2010op \u2014 \u201cnow\u201d?"), ("1", "What's a co-op - \"now\"?"),
        ("", "who is the old king"), ("", "\uff37ho is the old king"),
    ]  # fmt: skip
    path = write("log.jsonl", [{"id": key, "query": text} for key, text in rows])
    report = import_queries(project=project, path=path)
    assert [*Query.objects.order_by("line").values_list("text", "count")] == [
        (rows[0][1], 2),
        (rows[2][1], 2),
    ]
    assert (report["refused"], report["counts"]["repeats"]) == (0, 2)
    assert Query.objects.earliest("line").digest == query_digest(rows[0][1]), "as it always was"
    again = import_queries(project=project, path=path)
    assert (again["stored"], again["already_there"]) == (0, 2)
    turns = [{"query": "Why?", "history": [text]} for text in ("It\u2019s old", "It's old")]
    assert import_queries(project=project, path=write("turns.jsonl", turns))["stored"] == 1


def test_the_report_says_how_the_file_was_read(project, write):
    content = "Question;Freq;Topic\nWho was café?;3;a\nwho was CAFÉ?;2;b\nWhat is it;1;c\n"
    path = write("log.csv", content.encode("cp1252"))
    expected = {
        "encoding": "cp1252",
        "separator": ";",
        "sheet": None,
        "header_row": 1,
        "columns": {"text": ["Question"], "count": ["Freq"]},
        "left_out": ["Topic"],
        "rows": {"read": 3, "used": 2, "merged": 0, "repeats": 1, "refused": 0},
    }
    dry = import_queries(project=project, path=path, options=Options(encoding="cp1252"), dry_run=True)
    assert dry["read_as"] == expected
    import_queries(project=project, path=path, options=Options(encoding="cp1252"))
    assert QuerySource.objects.get().report["read_as"] == expected
    again = import_queries(project=project, path=path, options=Options(encoding="cp1252"))
    assert again["read_as"]["rows"] == {"read": 3, "used": 0, "merged": 0, "repeats": 3, "refused": 0}
    objects = import_queries(
        project=project, path=write("log.jsonl", [{"query": "One more", "a": 1}, {"Prompt": "Another one"}])
    )["read_as"]
    assert objects["columns"] == {"text": ["query", "Prompt"]}
    assert (objects["left_out"], objects["separator"], objects["header_row"]) == (["a"], None, None)


def test_the_weight_is_one_by_the_probability(project, write):
    path = write("log.csv", "query\n" + "".join(f"query {number}\n" for number in range(40)))
    import_queries(project=project, path=path, options=Options(design=Design(by="uniform", size=10, seed=3)))
    assert list(Query.objects.values_list("weight", flat=True)) == [4.0] * 10


def test_the_digest_tells_turns_apart_and_not_case(project, write):
    rows = [{"query": "Why", "history": ["What is rust?"]}, {"query": "why"}, {"query": "WHY", "id": "again"}]
    import_queries(project=project, path=write("log.jsonl", rows))
    assert list(Query.objects.order_by("line").values_list("text", "context")) == [
        ("Why", [{"text": "What is rust?"}]),
        ("why", []),
    ]


def test_what_the_project_has_already_is_counted_and_left_alone(project, write):
    import_queries(project=project, path=write("a.csv", "query\nwho is he\n"))
    report = import_queries(project=project, path=write("b.csv", "query\nWHO is he\nwho is she\n"))
    assert (report["already_there"], report["stored"]) == (1, 1)
    assert Query.objects.count() == 2


CURLY, PLAIN = "What\u2019s a \uff23o\u2011op?", "WHAT'S a co-op?"


@pytest.mark.parametrize(("first", "later"), [(CURLY, PLAIN), (PLAIN, CURLY)])
def test_a_later_file_finds_a_query_by_its_text_in_another_spelling(project, write, first, later):
    def rows(text):
        return [
            {"id": "1", "query": text, "passages": ["A shop."]},
            {"query": "And where?", "history": [text]},
            {"query": "who is he"},
        ]

    import_queries(project=project, path=write("a.jsonl", rows(first)))
    there = list(Query.objects.order_by("pk").values())
    report = import_queries(project=project, path=write("b.jsonl", [*rows(later), {"query": "what is it"}]))
    assert (report["already_there"], report["other_spelling"], report["stored"]) == (3, 2, 1)
    assert (report["refused"], report["counts"]["repeats"]) == (0, 3)
    assert list(Query.objects.order_by("pk").values())[:3] == there
    more = [{"query": later, "passages": ["A shop.", "A house."]}]
    lacks = import_queries(project=project, path=write("c.jsonl", more))
    assert lacks["refusals"][0]["reason"].startswith("The project has this query already: 1 passage of")
    assert CandidatePassage.objects.count() == 1


def test_of_two_spellings_that_a_project_has_the_same_one_is_found_else_the_oldest(project, write):
    spellings = ("What's a co\u2010op?", CURLY, PLAIN)
    queries = [{"query": f"query {number}"} for number in range(2)]
    import_queries(project=project, path=write("a.jsonl", queries))
    for query, text in zip(Query.objects.order_by("pk"), spellings, strict=False):
        digests = {"digest": query_digest(text), "plain_digest": plain_digest(text)}
        Query.objects.filter(pk=query.pk).update(text=text, references=[text], **digests)

    def again(text, reference):
        row = {"query": text, "references": [reference]}
        report = import_queries(project=project, path=write("b.jsonl", [row]))
        return report["other_spelling"], report["counts"]["repeats"]

    assert [again(text, text) for text in spellings] == [(0, 1), (0, 1), (1, 0)]
    assert again(PLAIN, spellings[0]) == (1, 1)


def test_queries_from_before_are_found_in_other_spellings_after_the_upgrade(project, write):
    import_queries(
        project=project, path=write("a.jsonl", [{"query": CURLY, "history": [CURLY]}, {"query": "who is he"}])
    )
    there = list(Query.objects.order_by("pk").values())
    Query.objects.update(plain_digest="")
    module = import_module("annotation.migrations.0007_fill_plain_digests")
    module.fill(apps, None)
    assert list(Query.objects.order_by("pk").values()) == there
    with CaptureQueriesContext(connection) as asked:
        module.fill(apps, None)
    assert len(asked) == 1


def test_an_id_that_the_project_has_for_another_query_is_refused(project, write):
    import_queries(project=project, path=write("a.csv", "id,query\n1,who is he\n"))
    report = import_queries(project=project, path=write("b.csv", "id,query\n1,who is she\n2,what is it\n"))
    assert (report["stored"], report["refused"]) == (1, 1)
    assert report["refusals"] == [{"line": 2, "reason": "The project has another query with the id '1'."}]
    assert QuerySource.objects.latest("pk").report["refused"] == 1


def test_labels_of_data_sets_are_kept_for_the_export(project, write):
    import_queries(project=project, path=write("dev.json", MARCO))
    query = Query.objects.get(key="1185869")
    assert list(
        query.candidates.order_by("rank").values_list("rank", "text", "url", "imported_selected")
    ) == [
        (1, "Other.", "http://a.org/1", False),
        (2, "It is 42.", "http://a.org/2", True),
    ]
    assert (query.references, query.type) == (["42"], "NUMERIC")
    import_queries(project=project, path=write("zhidao.json", CHINESE))
    query = Query.objects.get(key="186358")
    assert (query.text, query.yes_no) == ("绿茶 可以 空腹 喝 吗", True)
    assert query.extra["yesno_answers"] == ["No", "Depends"]
    assert query.extra["fact_or_opinion"] == "OPINION"
    import_queries(project=project, path=write("log.tsv", "query\tcount\nما هي عاصمة مصر؟\t3\nكم مَرّةً\t1\n"))
    assert dict(Query.objects.filter(source__name="log.tsv").values_list("text", "count")) == {
        "ما هي عاصمة مصر؟": 3,
        "كم مَرّةً": 1,
    }


def test_starting_at_a_later_stage_accepts_or_curates_with_a_step(project, write):
    import_queries(
        project=project, path=write("a.csv", "query\nwho is he\n"), options=Options(start_at="curation")
    )
    step = QueryStep.objects.get()
    assert (step.before, step.after, step.reason) == ("waiting", "accepted", "imported as screened")
    assert (step.query.status, step.query.status_reason) == ("accepted", "imported as screened")
    report = import_queries(
        project=project, path=write("dev.json", MARCO), options=Options(start_at="distillation")
    )
    curated, accepted = Query.objects.get(key="1185869"), Query.objects.get(key="1185868")
    assert (curated.status, accepted.status, report["curated"]) == ("curated", "accepted", 1)
    assert curated.curated_set.rule == "imported"
    assert [each.candidate.text for each in curated.curated_set.members.all()] == ["It is 42."]
    assert list(curated.steps.order_by("pk").values_list("before", "after")) == [
        ("waiting", "accepted"),
        ("accepted", "curated"),
    ]


def test_the_report_is_json_and_an_event_says_what_was_imported(project, write):
    report = import_queries(project=project, path=write("a.csv", "query\nwho is he\nwww.a.com\n"))
    assert json.loads(json.dumps(report)) == QuerySource.objects.get().report
    event = Event.objects.get(action="queries.imported")
    assert (event.subject, event.details["stored"]) == ("a.csv", 1)


def test_a_dry_run_and_a_preview_store_nothing(project, write):
    report = import_queries(project=project, path=write("a.csv", "query\nwho is he\n"), dry_run=True)
    assert (report["sampled"], report["stored"], nothing_there()) == (1, 0, True)
    path = write("a.csv", "Suche,Zahl\nwer ist er,2\nkaputt,1,2\n")
    found = preview(path, options=Options(columns={"text": "Suche"}))
    assert ([each.text for each in found.records], found.columns) == (["wer ist er"], ["Suche", "Zahl"])
    assert [line for line, _ in found.refusals] == [3]
    assert nothing_there()


def test_a_refused_file_leaves_nothing(project, write):
    for content, options, words in (
        ("a,b\nc,d\n", Options(), "no column holds the query"),
        ("query\nx\0y\n", Options(strict=True), "line 2: The line has a NUL byte"),
        ("query\none\n", Options(start_at="nowhere"), "cannot start at 'nowhere'"),
        ("query\none\n", Options(without=("colour",)), "no rule 'colour'"),
        ("query\none\n", Options(design=Design(by="uniform", size=0)), "A sample has 1 to"),
    ):
        with pytest.raises(ImportRefusedError, match=words):
            import_queries(project=project, path=write("a.csv", content), options=options)
        assert nothing_there(), words


def test_strict_refuses_an_id_that_the_project_has_and_leaves_nothing_new(project, write):
    import_queries(project=project, path=write("a.csv", "id,query\n1,who is he\n"))
    with pytest.raises(ImportRefusedError, match=r"b.csv, line 3: The project has another query"):
        import_queries(
            project=project,
            path=write("b.csv", "id,query\n2,what is it\n1,who is she\n"),
            options=Options(strict=True),
        )
    assert (Query.objects.count(), QuerySource.objects.count()) == (1, 1)


def test_what_breaks_while_storing_leaves_nothing(project, write, monkeypatch):
    monkeypatch.setattr(importing, "_BATCH", 2)
    seen = []

    def dies(done, total, what):
        if what == "Storing":
            seen.append(done)
            if done >= 4:
                raise KeyboardInterrupt

    path = write("a.csv", "query\n" + "".join(f"query {number}\n" for number in range(9)))
    with pytest.raises(KeyboardInterrupt):
        import_queries(project=project, path=path, progress=dies)
    assert seen == [0, 2, 4]
    assert nothing_there()


def test_a_file_that_changes_or_is_not_there_is_refused(project, write, tmp_path):
    path = write("a.csv", "query\nwho is he\n")

    def meddle(_done, _total, what):
        if what == "Counting":
            path.write_text("query\nwho is she\n and more")

    with pytest.raises(ImportRefusedError, match="was changed while it was read"):
        import_queries(project=project, path=path, progress=meddle)
    assert nothing_there()
    with pytest.raises(ImportRefusedError, match=r"gone.csv cannot be read: No such file"):
        import_queries(project=project, path=tmp_path / "gone.csv")


def test_passages_with_one_key_are_kept_apart(project, write):
    rows = [{"query": "who is he", "passages": [{"id": "d1", "text": "a"}, {"id": "d1", "text": "b"}, "c"]}]
    import_queries(project=project, path=write("a.jsonl", rows))
    keys = CandidatePassage.objects.order_by("rank").values_list("key", flat=True)
    assert list(keys) == ["d1", "d1#2", "p3"]


def test_many_rows_are_written_with_few_statements(project, write):
    path = write("a.csv", "query\n" + "".join(f"query {number}\n" for number in range(100)))
    with CaptureQueriesContext(connection) as queries:
        import_queries(project=project, path=path, options=Options(start_at="curation"))
    assert Query.objects.count() == 100
    assert len(queries) <= 22
