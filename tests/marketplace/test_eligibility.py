"""Who may discover, preview and accept what."""

import pytest

from marketplace.accounts import people
from marketplace.countries import fault_of_place
from marketplace.errors import Refusal
from marketplace.models import Worker
from marketplace.qualifications import eligibility, grants
from marketplace.qualifications.eligibility import normalise, verdict, verdicts
from tests.cases import apart

from .conftest import make_hit, make_requester, make_worker


def kind_of(requester, **changes):
    values = {
        "name": "Careful reader",
        "description": "d",
        "keywords": "",
        "status": "Active",
        "auto_granted": False,
        "auto_granted_value": 1,
        "retry_delay_s": None,
        "now": requester.created_at,
    }
    return grants.create_qualification_type(requester=requester, **(values | changes))


def type_with(requester, *raw):
    return make_hit(requester, requirements=normalise(list(raw)), title=str(raw)[:100]).hit_type


def test_comparators(requester, worker, subtests):
    for comparator, values, has_5, lacks in [
        ("LessThan", [6], True, False),
        ("LessThan", [5], False, False),
        ("LessThanOrEqualTo", [5], True, False),
        ("GreaterThan", [5], False, False),
        ("GreaterThanOrEqualTo", [5], True, False),
        ("EqualTo", [5], True, False),
        ("EqualTo", [4], False, False),
        ("NotEqualTo", [4], True, False),
        ("NotEqualTo", [5], False, False),
        ("Exists", None, True, False),
        ("DoesNotExist", None, False, True),
        ("In", [1, 5], True, False),
        ("In", [1, 2], False, False),
        ("NotIn", [1, 2], True, False),
        ("NotIn", [5], False, False),
    ]:
        with apart(subtests, comparator=comparator, values=values):
            kind = kind_of(requester)
            raw = {"QualificationTypeId": kind.qualification_type_id, "Comparator": comparator}
            if values:
                raw["IntegerValues"] = values
            hit_type = type_with(requester, raw)
            assert verdict(worker=worker, hit_type=hit_type).accept is lacks
            grants.grant(qualification_type=kind, worker=worker, value=5, notify=False)
            assert verdict(worker=worker, hit_type=hit_type).accept is has_5
            grants.revoke(qualification_type=kind, worker=worker, reason="")
            assert verdict(worker=worker, hit_type=hit_type).accept is lacks


def test_what_is_guarded_is_closed_to_those_who_lack_it(requester, worker, subtests):
    for guarded, allowed in [
        ("Accept", (True, True, False)),
        ("PreviewAndAccept", (True, False, False)),
        ("DiscoverPreviewAndAccept", (False, False, False)),
    ]:
        with apart(subtests, guarded=guarded, allowed=allowed):
            kind = kind_of(requester)
            hit_type = type_with(
                requester,
                {
                    "QualificationTypeId": kind.qualification_type_id,
                    "Comparator": "Exists",
                    "ActionsGuarded": guarded,
                },
            )
            for person in (worker, None):
                found = verdict(worker=person, hit_type=hit_type)
                assert (found.discover, found.preview, found.accept) == allowed
                assert found.missing == ["You need the qualification “Careful reader”."]


def test_places(requester, subtests):
    for country, state, comparator, wanted, fits in [
        ("US", "PA", "EqualTo", [{"Country": "US"}], True),
        ("US", "PA", "EqualTo", [{"Country": "US", "Subdivision": "PA"}], True),
        ("US", "NY", "EqualTo", [{"Country": "US", "Subdivision": "PA"}], False),
        ("US", "", "EqualTo", [{"Country": "US", "Subdivision": "PA"}], False),
        ("DE", "", "NotEqualTo", [{"Country": "US"}], True),
        ("DE", "", "In", [{"Country": "US"}, {"Country": "DE"}], True),
        ("FR", "", "NotIn", [{"Country": "US"}, {"Country": "DE"}], True),
        ("", "", "NotIn", [{"Country": "US"}], False),
    ]:
        with apart(subtests, country=country, state=state):
            hit_type = type_with(
                requester,
                {"QualificationTypeId": eligibility.LOCALE, "Comparator": comparator, "LocaleValues": wanted},
            )
            worker = make_worker(country=country, subdivision=state)
            assert verdict(worker=worker, hit_type=hit_type).accept is fits


def test_requirements_that_mean_nothing_are_refused(db, subtests):
    for raw in [
        {"QualificationTypeId": eligibility.LOCALE, "Comparator": "EqualTo", "IntegerValues": [1]},
        {
            "QualificationTypeId": eligibility.LOCALE,
            "Comparator": "LessThan",
            "LocaleValues": [{"Country": "US"}],
        },
        {"QualificationTypeId": eligibility.ADULT, "Comparator": "Exists", "IntegerValues": [1]},
        {"QualificationTypeId": eligibility.ADULT, "Comparator": "In", "IntegerValues": list(range(16))},
        {"QualificationTypeId": eligibility.ADULT, "Comparator": "EqualTo", "IntegerValues": [1, 2]},
        {"QualificationTypeId": eligibility.ADULT, "Comparator": "EqualTo"},
        {"QualificationTypeId": "3NOSUCH", "Comparator": "Exists"},
        {
            "QualificationTypeId": eligibility.ADULT,
            "Comparator": "Exists",
            "RequiredToPreview": True,
            "ActionsGuarded": "Accept",
        },
    ]:
        with subtests.test(raw=raw):
            with pytest.raises(Refusal) as refusal:
                normalise([raw])
            assert refusal.value.code == "InvalidParameterValue"


def test_the_approval_rate_counts_from_a_hundred_assignments(requester):
    hit_type = type_with(
        requester,
        {
            "QualificationTypeId": eligibility.PERCENT_APPROVED,
            "Comparator": "GreaterThanOrEqualTo",
            "IntegerValues": [95],
        },
    )
    beginner = Worker(submitted_count=99, approved_count=10, rejected_count=80)
    known = Worker(submitted_count=100, approved_count=94, rejected_count=6)
    for worker, fits in ((beginner, True), (known, False)):
        worker.worker_id, worker.name, worker.created_at = f"A{fits}", f"n{fits}", requester.created_at
        worker.save()
        assert verdict(worker=worker, hit_type=hit_type).accept is fits


def test_a_blocked_worker_may_look_but_not_accept_and_does_not_read_the_reason(requester, worker):
    hit_type = make_hit(requester).hit_type
    people.block(requester=requester, worker=worker, reason="secret reason")
    found = verdict(worker=worker, hit_type=hit_type)
    assert (found.discover, found.preview, found.accept) == (True, True, False)
    assert "secret" not in " ".join(found.missing)


def test_what_is_granted_on_request_is_offered_and_works_once_requested(requester, worker):
    kind = kind_of(requester, auto_granted=True, auto_granted_value=7)
    hit_type = type_with(
        requester,
        {"QualificationTypeId": kind.qualification_type_id, "Comparator": "EqualTo", "IntegerValues": [7]},
    )
    assert verdict(worker=worker, hit_type=hit_type).on_request == [kind]
    grants.ask(worker=worker, qualification_type=kind)
    assert verdict(worker=worker, hit_type=hit_type).accept


def test_thirty_groups_are_judged_in_as_many_queries_as_one(requester, worker, django_assert_num_queries):
    kind = kind_of(requester)
    raw = {"QualificationTypeId": kind.qualification_type_id, "Comparator": "Exists"}
    types = [
        make_hit(make_requester(), requirements=normalise([raw]), title=f"T{n}").hit_type for n in range(30)
    ]
    with django_assert_num_queries(3):
        assert len(verdicts(worker=worker, hit_types=types)) == 30


def test_places_where_nobody_lives_are_refused_with_the_code_that_is_meant(subtests):
    for country, state, fault in [
        ("GB", "", ""),
        ("US", "CA", ""),
        ("KR", "11", ""),
        ("UK", "", "'UK' is no country. Write 'GB'."),
        ("us", "", "'us' is no country. Write 'US'."),
        ("EU", "", "'EU' is no country. Name the countries themselves."),
        ("XX", "", "'XX' is no country. Write two capital letters (ISO 3166-1), such as 'US' or 'KR'."),
        ("US", "ZZ", "'ZZ' is no state of the USA. Write two capital letters, such as 'CA'."),
    ]:
        with subtests.test(country=country, state=state):
            assert fault_of_place(country, state) == fault
