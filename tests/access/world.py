"""Two projects with a row of every kind each, so that every address leads to something real."""

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.contrib.auth.models import User
from django.utils import timezone

from annotation.models import Answer, AnswerReview, Doubt, Query, QueryStep
from annotation.services import query_answers, query_files, staged_files
from core.api.tokens import create_token
from core.crypto import seal
from core.jobs.models import Job
from core.notices.services import raise_notice
from core.origin import Owner
from core.progress import silent
from core.projects.models import Project
from core.projects.services import create_project, set_role
from core.webhooks.models import Webhook
from crowd.models import Assignment, Endpoint, Hit, PanelStudy, PersonMatch, Stage, Worker
from crowd.services.endpoints import create_endpoint
from crowd.services.pictures import add_picture
from crowd.services.spenders import allow_spending
from evaluations import storage as evaluation_storage
from evaluations.external_scores import packed
from evaluations.models import Evaluation, ExternalScores
from judgments.models import AgreementReport, CandidateSource, FilterRun
from judgments.questionnaire.config import QuestionnaireConfig
from marketplace import clock
from marketplace.batches import results
from marketplace.heritage.models import Topic, WorkerFile
from marketplace.lifecycle import feedback
from marketplace.members import set_role as set_member
from marketplace.models import Batch, BatchExtension, LedgerEntry, Payout, Requester
from marketplace.models import Worker as SiteWorker
from marketplace.money import finance
from marketplace.qualifications import grants
from marketplace.qualifications.grants import QualificationTest
from people.links import LinkPlan, make_link
from people.models import StudyLink
from people.owners import project_owner
from people.rosters import add_people
from releases.download_files import link_for
from releases.models import Release
from retrieval.services.corpora import create_corpus
from tests.annotation import distilling
from tests.annotation.world import make_query, make_source
from tests.batches import making
from tests.desk.conftest import make_hit, make_stage, make_unknown, make_work
from tests.evaluations.model_folders import model
from tests.judgments import desk_world
from tests.questionforms import KEY, TEST
from tests.releases.shelf_world import make_release
from tests.site import world as site

Parts = dict[str, Any]


@dataclass(frozen=True)
class Place:
    """A project, and the values of the parts of addresses: of an app, and of single addresses."""

    project: Project
    rooms: dict[str, Parts]
    own: dict[str, Parts]

    def values(self, name: str) -> Parts:
        """Values for the address of this name."""
        room = name.partition(":")[0]
        return {**self.rooms.get(room, {}), **self.own.get(name, {})}


def make_people() -> dict[str, User]:
    """Everybody but visitors; the neighbour owns the other project."""
    names = ("stranger", "worker", "staff", "neighbour", "viewer", "manager", "owner")
    users = {name: User.objects.create_user(name, password="seven green kettles") for name in names}
    users["staff"].is_staff = True
    users["staff"].save()
    SiteWorker.objects.create(
        worker_id="AWORKER", name="worker", user=users["worker"], created_at=timezone.now()
    )
    return users


def make_place(tag: str, owner: User, others: dict[str, User], *, first: int) -> Place:
    """A project called `tag`; its HITs have ordinals from `first` on."""
    project = create_project(slug=tag, title=f"Project {tag}", owner=owner, budget_cents=1_000_000)
    for role, user in others.items():
        set_role(project=project, user=user, role=role)
    endpoint = Endpoint.objects.create(
        name=f"market-{tag}",
        label="A marketplace",
        url="http://127.0.0.1:9/mturk/api",
        access_key="AKEXAMPLE",
        secret_sealed=seal("secret", purpose="crowd.endpoint"),
        real_money=False,
        submit_origins=["http://127.0.0.1:9"],
        created_at=timezone.now(),
    )
    notice = raise_notice(project=project, kind="stuck", key="1", level="warning", sentence="Nobody comes.")
    spender = allow_spending(endpoint=endpoint, project=project)
    rooms: dict[str, Parts] = {}
    own: dict[str, Parts] = {
        "desk:see_notice": {"pk": notice.pk},
        "desk:disallow_spending": {"pk": spender.pk},
    }
    _crowd(project, endpoint, first, owner, rooms, own)
    own |= make_webhook("desk", Owner(Owner.Kind.PROJECT, project.pk))
    _annotation(project, endpoint, tag, rooms, own)
    _judgments(project, endpoint, tag, rooms, own)
    _releases(project, owner, first, rooms, own)
    _evaluations(project, first, rooms, own)
    rooms["people"] = {"pk": _study_link(project).pk}
    for parts in rooms.values():
        parts["project"] = tag
    return Place(project, rooms, own)


def make_webhook(namespace: str, owner: Owner) -> dict[str, Parts]:
    """A webhook with a message that was sent; parts of its addresses."""
    hook = Webhook.objects.create(
        owner_kind=owner.kind,
        owner_id=owner.pk,
        name="Our bot",
        address_sealed=seal("https://hooks.example.org/in", purpose="core.webhooks"),
        host="hooks.example.org",
        due_at=timezone.now(),
        created_at=timezone.now(),
    )
    message = hook.messages.create(type="webhook.test", at=timezone.now(), number=1, state="sent")
    return {
        f"{namespace}:webhook": {"pk": hook.pk},
        f"{namespace}:webhook_action": {"pk": hook.pk, "action": "pause"},
        f"{namespace}:webhook_message": {"pk": hook.pk, "message": message.pk},
    }


def _study_link(project: Project) -> StudyLink:
    """A link to the project, with somebody on its list."""
    endpoint = create_endpoint(name=f"links-{project.slug}", preset="link", access_key="", secret="")
    stage = make_stage(project, endpoint, slug=f"asked-{project.slug}")
    link = make_link(
        owner=project_owner(project),
        plan=LinkPlan(title="Tea", target=f"stage:{stage.slug}"),
        actor=None,
    )
    add_people(link=link, people=[("Ada", "ada@example.org")], actor=None)
    return link


def _crowd(
    project: Project,
    endpoint: Endpoint,
    first: int,
    owner: User,
    rooms: dict[str, Parts],
    own: dict[str, Parts],
) -> None:
    stage = make_stage(project, endpoint, slug=f"poll-{project.slug}")
    hit = make_hit(stage, external_id=f"3HITOF{project.slug.upper()}")
    Hit.objects.filter(pk=hit.pk).update(ordinal=first)
    hit.refresh_from_db()
    work = make_work(hit, f"A{project.slug.upper()}")
    planned = Hit.objects.create(stage=stage, ordinal=first + 1, places=1, reward_cents=1, fee_cents=0)
    unknown = make_unknown(planned)
    member = project.memberships.exclude(user=owner).first() or project.memberships.get()
    rooms["desk"] = {
        "stage": stage.slug,
        "number": first,
        "pk": work.pk,
        "operation": unknown.pk,
        "queue": "tied",
        "user": member.user_id,
        "endpoint": endpoint.name,
    }
    study = PanelStudy.objects.create(stage=stage, endpoint=endpoint, created_at=timezone.now())
    came = study.submissions.create(external_id="1", participant="2", status="ACTIVE", seen_at=timezone.now())
    for name in ("ask_return", "pay_in_part", "state_part_amount"):
        own[f"desk:{name}"] = {"pk": came.pk}
    elsewhere = create_endpoint(name=f"more-{project.slug}", preset="link", access_key="", secret="")
    other = Worker.objects.create(endpoint=elsewhere, external_id="G1", first_seen_at=timezone.now())
    match = PersonMatch.objects.create(
        project=project, first=work.worker, second=other, kinds=["id"], found_at=timezone.now()
    )
    own["desk:decide_match"] = {"pk": match.pk}
    token, _ = create_token(user=owner, scopes=["read"], project=project)
    own["desk:end_token"] = own["desk:end_project_token"] = {"pk": token.pk}
    for name in ("worker", "exclude", "compensate", "person", "exclude_person", "readmit", "readmit_person"):
        own[f"desk:{name}"] = {"pk": work.worker_id}
    picture = add_picture(
        project=project, name="map.png", content=b"\x89PNG\r\n\x1a\n" + project.slug.encode()
    )
    own["desk:remove_picture"] = {"pk": picture.pk}
    rooms["crowd"] = {
        "key": hit.key,
        "signed": "none",
        "endpoint": endpoint.name,
        "sha256": picture.sha256,
        "name": picture.name,
    }


def _annotation(
    project: Project, endpoint: Endpoint, tag: str, rooms: dict[str, Parts], own: dict[str, Parts]
) -> None:
    now = timezone.now()
    source = make_source(project)
    screening = make_stage(project, endpoint, slug=f"screening-{tag}", kind="screening", config={})
    stage = distilling.make_stage(project, endpoint=endpoint)
    tied = make_query(project, source=source, status="tied")
    query = distilling.make_query(project)
    work = make_work(make_hit(stage, external_id=f"3HITD{tag.upper()}"), f"AD{tag.upper()}")
    Assignment.objects.filter(pk=work.pk).update(state=Assignment.State.APPROVED)
    answer, again = (
        Answer.objects.create(
            stage=stage, assignment=work, worker=work.worker, query=each, text="Rome.", created_at=now
        )
        for each in (query, tied)
    )
    Answer.objects.filter(pk=again.pk).update(state=Answer.State.REWRITE)
    AnswerReview.objects.create(
        answer=again, actor=User.objects.get(username="owner"), action="rewrite", reason="Shorter.", at=now
    )
    QueryStep.objects.create(query=tied, at=now, after="tied", reason="Two and two.")
    job = Job.objects.create(kind="annotation.import", payload={"project": project.pk, "name": "log.tsv"})
    # With its project: files of worlds that were rolled back stay, and their numbers come again.
    file = staged_files.stage(
        project=project, name="log.tsv", pieces=[f"id\ttext\n1\twhat is {tag} {project.pk}\n".encode()]
    )
    rooms["annotation"] = {
        "stage": stage.slug,
        "pk": query.pk,
        "query": tied.pk,
        "worker": work.worker_id,
        "job": job.pk,
        "sha256": file.sha256,
        "corpus": create_corpus(project=project, slug=f"corpus-{tag}").slug,
    }
    own["annotation:agreement"] = {"stage": screening.slug}
    doubt = Doubt.objects.create(
        query=tied, stage=screening, why="Rejected.", says="1 of 3 votes count", raised_at=now
    )
    rooms["annotation"]["doubt"] = doubt.pk
    own["annotation:source"] = {"pk": source.pk}
    own["annotation:answers_of_worker"] = {"pk": work.worker_id}
    for name in ("approve_answer", "ask_rewrite", "exclude_answer", "reopen_answer"):
        own[f"annotation:{name}"] = {"pk": answer.pk}
    work_on = {"project": project.pk, "corpus": 0, "slug": "gone", "name": "passages.jsonl"}
    adding = Job.objects.create(kind="annotation.corpus.add", payload=work_on)
    for name in ("corpus_job", "corpus_live", "corpus_cancel"):
        own[f"annotation:{name}"] = {"job": adding.pk}
    made = _made_file(project)
    for name in ("queries_file_job", "queries_file_live", "queries_file_cancel", "queries_file"):
        own[f"annotation:{name}"] = {"job": made}
    rooms["rewriting"] = {"token": query_answers.write_rewrite_token(again.pk)}


def make_questionnaire(project: Project, endpoint: Endpoint, tag: str) -> Stage:
    """A draft of a questionnaire."""
    config = QuestionnaireConfig.model_validate({"preset": "pairs"}).model_dump(mode="json")
    return Stage.objects.create(
        project=project,
        endpoint=endpoint,
        slug=f"pairs-{tag.lower()}",
        title="Pairs",
        kind="questionnaire",
        config=config,
        task_title="Pairs",
        task_description="Compare.",
        reward_cents=1,
        redundancy=1,
        created_at=timezone.now(),
    )


def _made_file(project: Project) -> int:
    """A file of queries that is there."""
    job = Job.objects.create(kind=query_files.MAKE, payload={"project": project.pk, "asked": ""})
    made = query_files.make_file(job, project, project.queries.all(), silent)
    Job.objects.filter(pk=job.pk).update(
        state="done", result=made, started_at=job.created_at, finished_at=job.created_at
    )
    return job.pk


def _judgments(
    project: Project, endpoint: Endpoint, tag: str, rooms: dict[str, Parts], own: dict[str, Parts]
) -> None:
    now = timezone.now()
    place = desk_world.make_place(project, endpoint=endpoint)
    stage = place.stage
    for number in (1, 2):
        desk_world.query_of(place, f"j{number}", digest=f"judged {number}")
    desk_world.judge(place, [("j1/a", f"J{tag}1", 4), ("j1/a", f"J{tag}2", 5), ("j2/a", f"J{tag}1", 1)])
    system, candidate = place.systems["a"], place.candidates["j1/a"]
    source = CandidateSource.objects.create(
        project=project, name="answers.tsv", format="tsv", sha256="0" * 64, created_at=now
    )
    run = FilterRun.objects.create(
        stage=stage, recipe="none", parameters={}, last_judgment=0, created_at=now, state="in force"
    )
    AgreementReport.objects.create(
        stage=stage,
        stamp="1: made",
        last_judgment=3,
        judgments=3,
        report={},
        rows={},
        seconds=1,
        created_at=now,
    )
    job = Job.objects.create(kind="judgments.import", payload={"project": project.pk, "name": "answers.tsv"})
    file = staged_files.stage(
        project=project, name="a.tsv", pieces=[f"query\tanswer\nq1\tby {tag} {project.pk}\n".encode()]
    )
    rooms["judgments"] = {
        "stage": stage.slug,
        "pk": system.pk,
        "figure": "histogram",
        "job": job.pk,
        "sha256": file.sha256,
    }
    own["desk:submissions"] = {"form": "csv"}
    own["judgments:plot"] = {"plot": "histogram", "form": "svg"}
    own["judgments:source"] = {"pk": source.pk}
    own["judgments:undo_filter"] = {"pk": run.pk}
    for name in ("candidate", "take_out", "put_back"):
        own[f"judgments:{name}"] = {"pk": candidate.pk}
    for name in ("judge", "exclude_judge"):
        own[f"judgments:{name}"] = {"pk": place.workers[f"J{tag}1"].pk}
    questionnaire = make_questionnaire(project, endpoint, tag)
    for name in ("results", "calculate_results", "results_file", "units", "units_file", "import_units"):
        own[f"judgments:{name}"] = {"stage": questionnaire.slug, "path": "responses.jsonl"}
    own["judgments:take_nuggets"] = {"stage": questionnaire.slug, "source": questionnaire.slug}
    own["judgments:judge_plot"] = {"pk": place.workers[f"J{tag}1"].pk, "plot": "scores", "form": "csv"}


def _releases(
    project: Project, owner: User, first: int, rooms: dict[str, Parts], own: dict[str, Parts]
) -> None:
    """An earlier and a later version of members, and a public one."""
    files = {"README.md": b"# Read me\n"}
    for major in (1, 2, 3):
        release = make_release(project, f"{first + major}.0.0", files, public=major == 3)
    build = Job.objects.create(
        kind="releases.build", payload={"project": project.pk, "version": release.version}
    )
    check = Job.objects.create(kind="releases.check", payload={"project": project.pk})
    rooms["releases"] = {"version": f"{first + 2}.0.0", "path": "README.md", "job": build.pk}
    for name in ("check_job", "check_live", "check_cancel"):
        own[f"releases:{name}"] = {"job": check.pk}
    rooms["public_releases"] = {"version": f"{first + 3}.0.0", "path": "README.md"}
    own["public_releases:linked"] = {"token": link_for(release, owner)}


def _evaluations(project: Project, first: int, rooms: dict[str, Parts], own: dict[str, Parts]) -> None:
    """A finished one with a file, one that waits, one that failed, scores from elsewhere, a leaderboard."""
    release = Release.objects.get(project=project, version=f"{first + 2}.0.0")
    now, many = timezone.now(), {"plan": {"profile": "default"}, "created_at": timezone.now()}
    ready = Evaluation(release=release, number=first + 4, report={"metrics": {}}, **many)
    with evaluation_storage.workroom() as folder:
        (folder / "report.json").write_bytes(b"{}")
        ready.files = evaluation_storage.keep(ready, folder)
    ready.state, ready.finished_at = Evaluation.State.READY, now
    ready.save()
    waits = Evaluation.objects.create(release=release, number=first + 5, **many)
    failed = Evaluation.objects.create(
        release=release, number=first + 6, state="failed", why="No.", finished_at=now, **many
    )
    scores = [
        ExternalScores.objects.create(
            release=release, name=name, body=packed({"c1": 0.5}), count=1, missing=0, low=0.5, high=0.5,
            file_name="scores.csv", digest="d" * 64, kept=kept, created_at=now,
        )
        for name, kept in (("comet", True), ("judge", False))
    ]  # fmt: skip
    shown = Release.objects.get(project=project, version=f"{first + 3}.0.0")
    board = {"state": "ready", "finished_at": now, "leaderboard": True, "report": {"metrics": {}}}
    Evaluation.objects.create(release=shown, number=first + 7, **board, **many)
    rooms["leaderboards"] = {"version": shown.version}
    rooms["evaluations"] = {"version": release.version, "number": ready.number, "path": "report.json"}
    own["evaluations:cancel"] = {"number": waits.number}
    query = {"pk": Query.objects.filter(project=project).earliest("pk").pk}
    for name in ("query", "keyphrases", "keyphrases_live", "weigh"):
        own[f"evaluations:{name}"] = query
    own["evaluations:model"] = {"name": _model()}
    own["evaluations:again"] = {"number": failed.number}
    own["evaluations:remove"] = {"pk": scores[0].pk}
    for name in ("look", "keep"):
        own[f"evaluations:{name}"] = {"pk": scores[1].pk}


def _model() -> str:
    """The name of a model in the folder of the settings, which all projects share."""
    folder = Path(settings.METRIC_MODELS)
    if not (folder / "matrix").exists():
        model(folder, "matrix")
    return "matrix"


def batches(lab: Requester) -> dict[str, Parts]:
    """Values of addresses of batches: a draft, a review that was uploaded for it, a study link."""
    draft = making.draft(lab)
    decided = results.start_decisions(
        batch=draft, decisions=[], file_name="r.csv", override=False, once="once"
    )
    batch = {"number": draft.number, "ordinal": 1, "job": decided.pk}
    template = {"pk": draft.template_id, "slug": "text"}
    running = making.draft(lab)
    Batch.objects.filter(pk=running.pk).update(state=Batch.State.PUBLISHED)
    extension = BatchExtension.objects.create(batch=running, once=uuid4(), cents=0, at=timezone.now())
    file = WorkerFile.objects.create(
        requester=lab, number=1, kind="bonuses", file_name="b.csv", created_at=timezone.now()
    )
    link = make_link(
        owner=Owner(Owner.Kind.REQUESTER, lab.pk),
        plan=LinkPlan(title="Pictures", target=f"batch:{draft.number}"),
        actor=None,
    )
    topic = Topic.objects.create(requester=lab, name="t", arn=f"arn:{lab.pk}", created_at=timezone.now())
    subscription = topic.subscriptions.create(
        arn=f"arn:{lab.pk}:1",
        protocol="https",
        endpoint="https://hooks.example.org/t",
        created_at=timezone.now(),
    )
    delivery = subscription.deliveries.create(
        message_id=uuid4(), document={"Type": "Notification"}, created_at=timezone.now()
    )
    values = {
        "delivery": {"pk": delivery.pk},
        "link": {"pk": link.pk},
        "batch": batch,
        "template": template,
        "running": {"number": running.number, "extension": extension.pk},
        "file": {"number": file.number},
    }
    named = {
        "delivery": "topic_resend",
        "link": "study_link edit_study_link study_link_live study_link_visits close_study_link "
        "reopen_study_link study_link_quota study_link_list study_link_list_csv study_link_mail",
        "batch": "batch batch_live batch_task batch_results batch_review_report batch_review_live "
        "batch_properties batch_review batch_hosts batch_publish batch_cancel batch_delete "
        "batch_approve_waiting batch_schedule batch_mail batch_copy",
        "template": "template template_look template_delete template_copy sample_table use_sample",
        "running": "batch_rows batch_extend batch_extension_continue",
        "file": "worker_file worker_file_live worker_file_confirm worker_file_withdraw worker_file_continue",
    }
    return {f"requester:{name}": values[kind] for kind, names in named.items() for name in names.split()}


def worker_site(worker: User) -> dict[str, Parts]:
    """Values of addresses of the worker site: a group, and a HIT of it that the worker holds."""
    lab = site.make_requester()
    kind = site.make_qualification(lab, "Reading", on_request=True)
    group = site.make_group(lab)
    hit = site.post(group, places=2)
    holding = site.take(SiteWorker.objects.get(user=worker), hit)
    site.approve(site.do(site.make_worker("earner"), site.post(site.make_group(lab, "Paid"))))
    report = finance.make_payable(requester=lab, until=clock.now())
    payout = Payout.objects.create(
        requester=lab, number=1, report=report, method="paypal", currency="USD", cents=0, people=0,
        made_at=clock.now(),
    )  # fmt: skip
    then = clock.now() - timedelta(days=1)
    LedgerEntry.objects.filter(requester=lab).update(at=then)
    invoice = finance.issue_invoice(requester=lab, begins=then, ends=then + timedelta(hours=1))
    shared = {"group_id": group.group_id, "hit_id": hit.hit_id, "holding_id": holding.pk, "token": "none"}
    shared["uidb64"] = "none"
    member = User.objects.create_user("payer", password="seven green kettles")
    asking = site.make_group(lab, "Read a page", requirements=[site.needs(kind)])
    site.post(asking)
    me = holding.worker
    letter = site.write(me, lab, hit_type=group)
    message = feedback.answer(letter=letter, body="We will look at it.")
    asked = {"group_id": asking.group_id, "qualification_type_id": kind.qualification_type_id}
    tested = site.make_qualification(lab, "Chess", test=QualificationTest(TEST, KEY, 600))
    site.ask(SiteWorker.objects.get(user=worker), tested)
    shared["qualification_type_id"] = tested.qualification_type_id
    robin = site.make_worker("robin")
    work = site.do(robin, site.post(group))
    course = site.make_qualification(lab, "Course")
    wish = grants.ask(worker=robin, qualification_type=course)
    answered = {
        "requester": lab.customer_id,
        "hit_id": work.hit.hit_id,
        "pk": work.pk,
        "worker_id": robin.worker_id,
        "kind": course.qualification_type_id,
        "asking": wish.request_id,
    }
    return {
        "site": {**shared, "signature": "none"},
        "join": {"token": "none", "secret": "none", "signed": "none", "kind": "privacy"},
        "site:request_qualification": asked,
        "worker-api-test": {"request_id": "none"},
        "examples": {"number": 1},
        "accounts": {
            **{"kind": "requester", "target": lab.customer_id, "pk": 1},
            **{"token": "none", "number": "none", "provider_id": "none"},
        },
        "openid_connect_login": {"provider_id": "none"},
        "openid_connect_callback": {"provider_id": "none"},
        "site:reply": {"message": message.pk},
        "requester": {
            **answered,
            "letter": letter.pk,
            "user": set_member(requester=lab, user=member, role="viewer").user_id,
            "key": lab.keys.get().pk,
            "payable": report.number,
            "payout": payout.number,
            "invoice": invoice.number,
        },
        **batches(lab),
        **make_webhook("requester", Owner(Owner.Kind.REQUESTER, lab.pk)),
    }
