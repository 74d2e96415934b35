"""Who is judged: held-out answers, copies of references, and what a researcher takes out or puts back."""

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command

from annotation.models import Answer, HeldOutWorker, Query
from core.projects.models import Event
from crowd.errors import CrowdError
from judgments.models import Candidate, FilterRun, Score, System
from judgments.selectors.candidates import systems, to_judge
from judgments.services.candidates import (
    HumanCandidates,
    human_candidates,
    put_back,
    put_back_copies,
    refresh_exact,
    withdraw,
)
from tests.annotation.distilling import make_query as make_curated_query
from tests.annotation.distilling import make_stage, reject, write
from tests.judgments.candidates_world import judge, make_candidate, make_project, make_query, make_system

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada():
    return User.objects.create_user("ada")


@pytest.fixture
def project():
    return make_project("reading")


@pytest.fixture
def stage():
    return make_stage(redundancy=4)


def hold_out(query, name):
    answer = Answer.objects.get(query=query, worker__external_id=name)
    HeldOutWorker.objects.create(query=query, worker=answer.worker, created_at=answer.created_at)
    return answer


def answered(stage, *names, text="Rome, says {}."):
    query = make_curated_query(stage, yes_no=True)
    for name in names:
        write(stage, query, text.format(name), worker=name)
    return query


# Held-out answers


def test_held_out_answers_become_candidates_of_the_system_human_once(stage, ada):
    query = answered(stage, "A1", "A2", "A3")
    assert human_candidates(stage.project) == HumanCandidates()
    assert not System.objects.exists()
    first, second = hold_out(query, "A1"), hold_out(query, "A3")
    assert human_candidates(stage.project, actor=ada) == HumanCandidates(new=2)
    rows = list(Candidate.objects.order_by("pk"))
    assert [(row.answer, row.text, row.opinion, row.aside) for row in rows] == [
        (first, "Rome, says A1.", "Yes", ""),
        (second, "Rome, says A3.", "Yes", ""),
    ]
    system = System.objects.get()
    assert (system.name, system.kind) == ("human", "human")
    before = list(Candidate.objects.values())
    assert human_candidates(stage.project) == HumanCandidates()
    assert list(Candidate.objects.values()) == before
    assert Event.objects.get(action="candidates.human").actor == ada


def test_an_answer_taken_back_is_withdrawn_unless_it_was_judged(stage):
    query = answered(stage, "A1", "A2")
    hold_out(query, "A1")
    human_candidates(stage.project)
    HeldOutWorker.objects.all().delete()
    assert human_candidates(stage.project) == HumanCandidates(withdrawn=1)
    assert Candidate.objects.get().aside == "withdrawn"
    hold_out(query, "A1")
    assert human_candidates(stage.project) == HumanCandidates(back=1)
    assert Candidate.objects.get().aside == ""
    judge(Candidate.objects.get())
    HeldOutWorker.objects.all().delete()
    assert human_candidates(stage.project) == HumanCandidates(too_late=1)
    assert Candidate.objects.get().aside == ""


def test_what_no_longer_counts_is_withdrawn_and_what_a_researcher_took_out_stays_out(stage, ada):
    query = answered(stage, "A1", "A2")
    answer = hold_out(query, "A1")
    hold_out(query, "A2")
    human_candidates(stage.project)
    withdraw(candidate=Candidate.objects.get(text__endswith="A2."), reason="Names a child.", actor=ada)
    assert human_candidates(stage.project) == HumanCandidates()
    reject(answer)
    assert human_candidates(stage.project).withdrawn == 1
    assert set(Candidate.objects.values_list("aside", flat=True)) == {"withdrawn"}


def test_a_held_out_answer_in_the_words_of_a_reference_is_a_copy(stage):
    query = answered(stage, "A1", "A2", text="Rome is the capital.")
    hold_out(query, "A1")
    assert human_candidates(stage.project) == HumanCandidates(new=1, exact=1)
    assert Candidate.objects.get().aside == "exact"


def test_the_command_makes_held_out_answers_candidates(stage, capsys):
    hold_out(answered(stage, "A1", "A2"), "A1")
    call_command("import-candidates", stage.project.slug, "--human")
    assert capsys.readouterr().out.startswith("Held-out answers that became candidates: 1")
    assert Candidate.objects.count() == 1


# Copies of references


def test_copies_of_references_that_came_later_are_set_aside(project):
    oak = make_query(project, "how old is oak")
    system = make_system(project)
    copy, other = (
        make_candidate(system, oak, "It is old."),
        make_candidate(make_system(project, "two"), oak, "Young."),
    )
    assert refresh_exact(project) == 0
    Query.objects.update(references=["it is OLD", {"odd": 1}])
    assert refresh_exact(project) == 1
    copy.refresh_from_db()
    other.refresh_from_db()
    assert (copy.aside, other.aside) == ("exact", "")
    assert Event.objects.get(action="candidates.exact").details == {"set_aside": 1}
    assert refresh_exact(project) == 0


def test_answers_of_people_are_references_as_well(stage):
    query = answered(stage, "A1")
    copy = make_candidate(make_system(stage.project), query, "rome, says a1")
    assert refresh_exact(stage.project) == 1
    copy.refresh_from_db()
    assert copy.aside == "exact"


def test_a_copy_that_somebody_judged_is_never_set_aside(project):
    oak = make_query(project, "how old is oak", "It is old.")
    judge(make_candidate(make_system(project), oak, "It is old."))
    assert refresh_exact(project) == 0
    assert Candidate.objects.get().aside == ""


def test_a_copy_that_was_put_back_stays(project, ada):
    oak = make_query(project, "how old is oak", "It is old.")
    copy = make_candidate(make_system(project), oak, "It is old.")
    refresh_exact(project)
    copy.refresh_from_db()
    put_back(candidate=copy, reason="We want to see.", actor=ada)
    assert refresh_exact(project) == 0
    copy.refresh_from_db()
    assert (copy.aside, copy.kept, copy.aside_reason) == ("", True, "We want to see.")


def test_all_copies_of_a_system_are_put_back_at_once(project, ada):
    system, other = make_system(project), make_system(project, "two")
    for number in range(3):
        query = make_query(project, f"how old is oak {number}", "Old.")
        make_candidate(system, query, "old")
        make_candidate(other, query, "old")
    assert refresh_exact(project) == 6
    assert put_back_copies(system=system, reason="All of them.", actor=ada) == 3
    assert to_judge(project).count() == 3
    with pytest.raises(CrowdError, match="No answer of this system"):
        put_back_copies(system=system, reason="Again.", actor=ada)
    assert Event.objects.get(action="candidate.put_back").details["candidates"] == 3


# What a researcher decides


def test_taking_out_and_putting_back_need_a_reason_and_are_logged(project, ada):
    candidate = make_candidate(make_system(project), make_query(project, key="q1"))
    with pytest.raises(CrowdError, match="Say why"):
        withdraw(candidate=candidate, reason="  ", actor=ada)
    withdraw(candidate=candidate, reason="Names a child.", actor=ada)
    with pytest.raises(CrowdError, match="taken out already"):
        withdraw(candidate=candidate, reason="Again.", actor=ada)
    assert not to_judge(project).exists()
    put_back(candidate=candidate, reason="It does not.", actor=ada)
    with pytest.raises(CrowdError, match="judged already"):
        put_back(candidate=candidate, reason="Again.", actor=ada)
    assert to_judge(project).get() == candidate
    events = Event.objects.filter(action__startswith="candidate.").order_by("pk")
    assert [(each.action, each.subject, each.details["why"]) for each in events] == [
        ("candidate.withdrawn", "copynet: q1", "Names a child."),
        ("candidate.put_back", "copynet: q1", "It does not."),
    ]


def test_an_empty_answer_cannot_be_put_back(project, ada):
    candidate = make_candidate(make_system(project), make_query(project), "", aside="empty")
    with pytest.raises(CrowdError, match="nothing to judge"):
        put_back(candidate=candidate, reason="Why not.", actor=ada)


# What is judged


def test_queries_that_only_wait_are_judged_and_those_taken_out_are_not(project):
    system = make_system(project)
    made = {
        status: make_candidate(system, make_query(project, status, status=status))
        for status in ("waiting", "answered", "withdrawn", "excluded")
    }
    assert list(to_judge(project)) == [made["waiting"], made["answered"]]
    assert not to_judge(make_project()).exists()


def test_a_project_can_begin_with_judging(tmp_path):
    """Queries with references and without passages, and answers: nothing else is needed."""
    project = make_project("kpqa")
    queries = tmp_path / "queries.jsonl"
    queries.write_text(
        '{"id": "m1", "query": "acetate definition", "references": ["Acetate is a salt."]}\n'
        '{"id": "m2", "query": "capital of italy", "references": ["Rome", "It is Rome."]}\n'
    )
    answers = tmp_path / "answers.csv"
    answers.write_text("question,answer\nAcetate definition,A salt.\nCapital of Italy,it is rome\n")
    call_command("import-queries", "kpqa", str(queries))
    call_command("import-candidates", "kpqa", str(answers), "--system", "unilm")
    assert [(row.query.key, row.query.status, row.text) for row in to_judge(project)] == [
        ("m1", "waiting", "A salt.")
    ]
    assert Candidate.objects.get(query__key="m2").aside == "exact"


def test_counts_of_a_system(project):
    system, other = make_system(project), make_system(project, "human", kind="human")
    for number, aside in enumerate(["", "", "exact", "empty", "withdrawn"]):
        make_candidate(system, make_query(project, f"query {number}"), f"A{number}", aside=aside)
    make_candidate(system, make_query(project, "gone", status="withdrawn"))
    first = to_judge(project).first()
    judge(first, 4), judge(first, 2)
    run = FilterRun.objects.create(
        stage=project.stages.get(), recipe="none", parameters={}, last_judgment=0, created_at=first.created_at
    )
    Score.objects.create(run=run, candidate=first, n_raw=2, n_kept=2, mean=3.0)
    people, counted = sorted(systems(project), key=lambda each: each.system.name == "copynet")
    assert people.system == other and (people.answers, people.mean) == (0, None)
    assert (counted.answers, counted.to_judge, counted.query_out) == (6, 2, 1)
    assert (counted.exact, counted.empty, counted.withdrawn) == (1, 1, 1)
    assert (counted.judged, counted.judgments, counted.mean) == (1, 2, 3.0)
    FilterRun.objects.update(state="undone")
    assert [each.mean for each in systems(project)] == [None, None]
