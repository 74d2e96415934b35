"""Django's admin shows superusers the rows of all apps and lets nobody change them."""

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.test import RequestFactory, override_settings
from django.urls import reverse
from django.utils import timezone

from core.accounts.models import PasswordState
from core.projects.models import Event, Membership, Project
from crowd.models import Stage
from distillery.admin import TABLES, LookOnly
from judgments.models import Judgment
from tests.access.world import make_people, make_place
from tests.cases import apart, rows_of_module
from tests.scale import TEST_ALL

pytestmark = pytest.mark.django_db
#: What Django's own forms change: accounts, which no service of ours has rules for.
_FORMS = {User, Group, PasswordState}
_MOST_QUERIES = 12


@pytest.fixture(scope="module")
def rows(django_db_setup, django_db_blocker, tmp_path_factory):
    """A project with a row of every kind, made once; what a test does to it is rolled back."""
    models = tmp_path_factory.mktemp("models")
    with override_settings(METRIC_MODELS=models), rows_of_module(django_db_blocker):
        users = make_people()
        yield make_place("mine", users["owner"], {"viewer": users["viewer"]}, first=0)


@pytest.fixture
def place(rows, db):
    """The project as it was made."""
    rows.project.refresh_from_db()
    return rows


@pytest.fixture
def root(client):
    client.force_login(User.objects.create_superuser("root"))
    return client


def pages(model, *names):
    label = model._meta.label_lower.replace(".", "_")
    return [f"admin:{label}_{name}" for name in names]


HOSTILE = (
    {"_to_field": "nonsense"},
    {"_to_field": "\x00"},
    {"o": "99.-x..1", "p": "-1", "all": "\x00", "_popup": "\x00"},
    {"q": "'" * 300 + "\x00"},
    {"pk__foo": "1"},
    {"id__in": "x,y", "id__isnull": "maybe"},
    {"id": "9" * 40, "_changelist_filters": "%%%", "_facets": "1"},
)


def test_no_address_of_the_admin_ends_in_an_error(root, subtests):
    for model in list(admin.site._registry)[:: 1 if TEST_ALL else 9]:
        with apart(subtests, model=model):
            relations = [
                {"_to_field": field.name} for field in model._meta.get_fields() if not field.concrete
            ][:2]
            [listing, add, change] = pages(model, "changelist", "add", "change")
            addresses = [(reverse(listing), query) for query in (*HOSTILE, *relations)]
            for address in (reverse(add), reverse(change, args=["_00x"])):
                addresses += [(address, query) for query in (*HOSTILE[:2], *relations)]
            for address, query in addresses:
                answer = root.get(address, query)  # an exception of a view is raised here
                if "_to_field" in query:
                    assert answer.status_code in {302, 400, 403}, (address, query)


def test_everything_but_accounts_is_for_looking_only():
    registered = {model for model, own in admin.site._registry.items() if not isinstance(own, LookOnly)}
    assert registered == _FORMS


def test_a_table_is_listed_searched_and_opened_and_cannot_be_changed(place, root, subtests):
    for number, table in enumerate(TABLES):
        with apart(subtests, table=table):
            [listing] = pages(table.model, "changelist")
            answer = root.get(reverse(listing), {"q": "mine"} if table.search else {})
            assert answer.status_code == 200
            row = table.model._base_manager.first()
            change, delete = (
                reverse(name, args=[row.pk if row else 0]) for name in pages(table.model, "change", "delete")
            )
            if row is not None:
                assert root.get(change).status_code == 200
            if number % 8 and not TEST_ALL:
                continue  # all are of one class, see above
            before = table.model._base_manager.count()
            root.post(reverse(listing), {"action": "delete_selected", "_selected_action": "1", "post": "yes"})
            assert table.model._base_manager.count() == before
            assert root.get(reverse(pages(table.model, "add")[0])).status_code == 403
            if row is not None:
                assert root.post(change, {"_save": "Save"}).status_code == 403
                assert root.post(delete, {"post": "yes"}).status_code == 403
                assert table.model._base_manager.filter(pk=row.pk).exists()


def test_secrets_are_not_shown(place, root):
    project = place.project
    shown = root.get(reverse("admin:projects_project_change", args=[project.pk])).content.decode()
    assert project.title in shown
    assert project.pseudonym_key not in shown
    endpoint = project.stages.first().endpoint
    shown = root.get(reverse("admin:crowd_endpoint_change", args=[endpoint.pk])).content.decode()
    assert endpoint.secret_sealed not in shown
    assert endpoint.access_key not in shown


def test_staff_who_are_no_superusers_see_no_table_whatever_they_may(place, client):
    ada = User.objects.create_user("ada", is_staff=True)
    client.force_login(ada)
    request = RequestFactory().get("/admin/")
    request.user = ada
    for number, (model, own) in enumerate(admin.site._registry.items()):
        if isinstance(own, LookOnly):
            assert not own.has_view_permission(request)
            if number % 8 and not TEST_ALL:
                continue
            assert client.get(reverse(pages(model, "changelist")[0])).status_code == 403


def test_somebody_with_a_membership_cannot_be_deleted(place, root):
    owner = User.objects.get(username="owner")
    root.post(reverse("admin:auth_user_delete", args=[owner.pk]), {"post": "yes"})
    assert Membership.objects.filter(project=place.project, user=owner).exists()


def test_an_event_cannot_be_changed_through_its_page(place, root):
    event = Event.objects.first()
    root.post(reverse("admin:projects_event_change", args=[event.pk]), {"action": "nothing", "_save": "Save"})
    assert Event.objects.get(pk=event.pk).action == event.action


def test_budgets_cannot_be_changed_around_their_rules(place, root):
    root.post(
        reverse("admin:projects_project_change", args=[place.project.pk]),
        {"budget_cents": "1", "_save": "Save"},
    )
    assert Project.objects.get(pk=place.project.pk).budget_cents == place.project.budget_cents


@pytest.mark.long
def test_a_list_of_rows_costs_no_query_per_row(place, root, django_assert_max_num_queries):
    for table in TABLES:
        with django_assert_max_num_queries(_MOST_QUERIES):
            root.get(reverse(pages(table.model, "changelist")[0]))


def account_form(client, user):
    """The fields of an account as its page shows them, and the page's address."""
    page = f"/admin/auth/user/{user.pk}/change/"
    form = client.get(page).context["adminform"].form
    values = {name: form[name].value() for name in form.fields if name not in ("password", "last_login")}
    joined = values.pop("date_joined")
    values |= {"date_joined_0": f"{joined:%Y-%m-%d}", "date_joined_1": f"{joined:%H:%M:%S}"}
    return page, {name: value for name, value in values.items() if value not in (None, False)}


def test_of_two_who_change_an_account_the_second_changes_nothing(root):
    sam = User.objects.create_user("sam", email="sam@example.org")
    editors = Group.objects.create(name="editors")
    page, mine = account_form(root, sam)
    _, theirs = account_form(root, sam)
    assert root.post(page, theirs | {"groups": [editors.pk]}).status_code == 302
    answer = root.post(page, mine | {"email": "other@example.org"})
    assert "This was changed after you opened this page" in answer.content.decode()
    sam.refresh_from_db()
    assert (sam.email, list(sam.groups.all())) == ("sam@example.org", [editors])
    again = account_form(root, sam)[1] | {"email": "other@example.org"}
    assert root.post(page, again).status_code == 302
    sam.refresh_from_db()
    assert (sam.email, list(sam.groups.all())) == ("other@example.org", [editors])


def test_a_new_account_and_a_sign_in_meanwhile_are_no_conflict(root, client):
    new = {"username": "tess", "usable_password": "true"}
    new |= {"password1": "seven green kettles", "password2": "seven green kettles"}
    assert root.post("/admin/auth/user/add/", new).status_code == 302
    tess = User.objects.get(username="tess")
    page, mine = account_form(root, tess)
    User.objects.filter(pk=tess.pk).update(last_login=timezone.now())
    assert root.post(page, mine | {"first_name": "Tess"}).status_code == 302


@pytest.mark.parametrize("mark", [{}, {"revision": "made up"}])
def test_a_group_is_not_changed_without_what_its_page_showed(root, mark):
    group = Group.objects.create(name="editors")
    page = f"/admin/auth/group/{group.pk}/change/"
    assert root.post(page, {"name": "other", **mark}).status_code == 200
    shown = root.get(page).context["adminform"].form["revision"].value()
    assert root.post(page, {"name": "other", "revision": shown}).status_code == 302


def test_scores_are_shown_in_points_of_their_scale(place, root):
    judgment = Judgment.objects.select_related("stage").first()
    Stage.objects.filter(pk=judgment.stage_id).update(config=judgment.stage.config | {"scale": "halves"})
    Judgment.objects.filter(pk=judgment.pk).update(score=9)
    shown = root.get(reverse("admin:judgments_judgment_changelist")).content.decode()
    assert '<td class="field-score_in_points">4.5</td>' in shown
