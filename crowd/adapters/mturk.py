"""The adapter of endpoints that speak the MTurk protocol, with its rate of calls and its reading of answers.

Such are our own marketplace, those of others, and Amazon's.

One class, several configurations. What the outcomes of calls mean was verified with botocore (design notes
on marketplaces, sections 1 and 5): an error that says a token was used before is the success of an earlier
attempt; anything but a clear answer is Unknown.
"""

import hashlib
import hmac
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from typing import Any
from urllib.parse import urlsplit
from xml.etree.ElementTree import ParseError

import boto3
import botocore.session
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, ConnectionClosedError, ParamValidationError
from botocore.hooks import BaseEventHooks
from botocore.utils import parse_timestamp
from defusedxml import ElementTree as SafeTree
from defusedxml.common import DefusedXmlException

from core.jobs.spans import HEADER, current_request_id, is_on, open_span
from core.money import cents, dollars
from core.rates import limits
from crowd.adapters import base, outcomes


class TokenBucket:
    """Lets `rate` calls per second pass, and up to `burst` at once after a pause; rate 0 lets all pass."""

    def __init__(self, name: str, rate: float, burst: int) -> None:
        self._name, self._rate, self._burst = name, rate, burst

    def wait(self) -> float:
        """Wait for one's turn; the seconds waited."""
        if not self._rate:
            return 0.0
        pause = limits().take(self._name, rate=self._rate, burst=self._burst, owe=True)
        if pause:
            time.sleep(pause)
        return pause

    def penalise(self, seconds: float) -> None:
        """Hold everybody back for a while: the endpoint said that it was too much."""
        if self._rate:
            limits().drain(self._name, rate=self._rate, burst=self._burst, seconds=seconds)


def follow_calls(events: BaseEventHooks) -> None:
    """Register the handlers below with a botocore client's events."""
    events.register("before-call.mturk", tell_request_id)
    if is_on():
        events.register("before-call.mturk", begin_span)
        events.register("after-call.mturk", end_span)
        events.register("after-call-error.mturk", end_span)


def begin_span(model: Any, context: dict[str, Any], **_: Any) -> None:
    """Before a call: open its span, which `end_span` closes."""
    stack = ExitStack()
    note = stack.enter_context(open_span(f"mturk {model.name}", **{"rpc.method": model.name}))
    context["distillery.span"] = stack, note


def end_span(context: dict[str, Any], http_response: Any = None, exception: Any = None, **_: Any) -> None:
    """After a call, whether it was answered or not; of an error only the class is noted."""
    stack, note = context.pop("distillery.span")
    if http_response is not None:
        note("http.response.status_code", http_response.status_code)
    if exception is not None:
        note("error.type", type(exception).__name__)
    stack.close()


def tell_request_id(params: dict[str, Any], **_: Any) -> None:
    """Before a call: a marketplace of ours writes the id of our request into its log; others overlook it."""
    if request_id := current_request_id():
        params["headers"][HEADER] = request_id


#: What is signed begins so; the words are a protocol of both sides.
_BEGINNING = "distillery.arrival"


def is_proven(arrival: base.Arrival, secret: str) -> bool:
    """Whether the submit address was signed for this worker, assignment and HIT with this secret."""
    address, _, proofs = arrival.submit_to.rpartition("/")[2].partition("~")
    message = "|".join((_BEGINNING, arrival.submission, arrival.worker, arrival.listing, address))
    signature = hmac.new(secret.encode(), message.encode(), hashlib.sha256).hexdigest()[:32]
    return bool(secret) and any(
        hmac.compare_digest(proof.encode(), signature.encode()) for proof in proofs.split(".")
    )


EXTERNAL_QUESTION = (
    "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/ExternalQuestion.xsd"
)
_HIDE = {
    "accept": "Accept",
    "preview": "PreviewAndAccept",
    "discover": "DiscoverPreviewAndAccept",
}
_SYSTEM = {
    "approval_rate": "000000000000000000L0",
    "approved_count": "00000000000000000040",
    "adult": "00000000000000000060",
}
_LOCALE = "00000000000000000071"


def external_question(url: str, frame_height: int) -> str:
    """ExternalQuestion XML for a page of ours."""
    escaped = url.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return (
        f'<ExternalQuestion xmlns="{EXTERNAL_QUESTION}"><ExternalURL>{escaped}</ExternalURL>'
        f"<FrameHeight>{frame_height}</FrameHeight></ExternalQuestion>"
    )


def requirement_for(rule: base.Rule) -> dict[str, Any]:
    """A rule as a QualificationRequirement."""
    requirement: dict[str, Any] = {"Comparator": rule.op, "ActionsGuarded": _HIDE[rule.hide]}
    if rule.kind == "country":
        requirement["QualificationTypeId"] = _LOCALE
        requirement["LocaleValues"] = [_locale(str(value)) for value in rule.values]
        return requirement
    if rule.kind in ("group", "raw"):
        requirement["QualificationTypeId"] = str(rule.values[0])
        numbers = rule.values[1:]
    else:
        requirement["QualificationTypeId"] = _SYSTEM[rule.kind]
        numbers = rule.values
    if numbers:
        requirement["IntegerValues"] = [int(value) for value in numbers]
    return requirement


def _locale(place: str) -> dict[str, str]:
    country, _, subdivision = place.partition("-")
    return {"Country": country, **({"Subdivision": subdivision} if subdivision else {})}


def utc(moment: datetime) -> datetime:
    """botocore answers in the process's local zone."""
    return moment.astimezone(UTC)


def submission_from(item: Mapping[str, Any]) -> base.Submission:
    """An Assignment of the protocol."""
    decided = item.get("ApprovalTime") or item.get("RejectionTime")
    return base.Submission(
        ref=item["AssignmentId"],
        listing=item["HITId"],
        worker=item["WorkerId"],
        state=item["AssignmentStatus"].lower(),
        accepted_at=utc(item["AcceptTime"]) if "AcceptTime" in item else None,
        submitted_at=utc(item["SubmitTime"]),
        auto_approve_at=utc(item["AutoApprovalTime"]) if "AutoApprovalTime" in item else None,
        decided_at=utc(decided) if decided else None,
        answer=parse_answers(item.get("Answer", "")),
        raw=item,
    )


def parse_answers(xml: str) -> dict[str, str]:
    """Fields of QuestionFormAnswers; what cannot be read is an empty answer."""
    try:
        root = SafeTree.fromstring(xml, forbid_dtd=True)
    except (ParseError, DefusedXmlException, ValueError):
        return {}
    fields: dict[str, str] = {}
    for answer in root:
        values = {child.tag.rpartition("}")[2]: child.text or "" for child in answer}
        if "QuestionIdentifier" in values:
            fields[values["QuestionIdentifier"]] = values.get("FreeText", "")
    return fields


KEY_PREFIX = "dst:"
NO_ASSIGNMENT = "ASSIGNMENT_ID_NOT_AVAILABLE"
_PAGE = {"PageSize": 100}


@dataclass(frozen=True, slots=True)
class Account:
    """Where to call and as whom. `rate` and `burst` are calls per second; 0 for no limit of ours."""

    endpoint_url: str
    region: str
    access_key: str
    secret: str
    currency: str = "USD"
    rate: float = 3.0
    burst: int = 5


@cache
def _session() -> boto3.Session:
    """Session of all endpoints; reads the protocol's model once, for one thread at a time (registry.py)."""
    core = botocore.session.get_session()
    # In UTC: to convert each time to the local zone was a third of the time that a list took to read.
    core.get_component("response_parser_factory").set_parser_defaults(timestamp_parser=_time)
    return boto3.Session(botocore_session=core)


def _time(value: Any) -> datetime:
    """Seconds since 1970, as the JSON protocol has them; anything else is left to botocore."""
    if isinstance(value, int | float):
        return datetime.fromtimestamp(value, UTC)
    return parse_timestamp(value)


class MTurkAdapter:
    """The marketplace interface over boto3's mturk client; safe to share between threads."""

    def __init__(self, account: Account) -> None:
        loopback = (urlsplit(account.endpoint_url).hostname or "") in ("localhost", "127.0.0.1", "::1")
        self._client = _session().client(
            "mturk",
            endpoint_url=account.endpoint_url,
            region_name=account.region,
            aws_access_key_id=account.access_key,
            aws_secret_access_key=account.secret,
            config=Config(
                retries={"mode": "standard", "total_max_attempts": 1},
                connect_timeout=5,
                read_timeout=30,
                max_pool_connections=32,
                proxies={} if loopback else None,
            ),
        )
        outcomes.limit_answers(self._client)
        self._client.meta.events.register("before-parse.mturk", self._refuse_a_part)
        follow_calls(self._client.meta.events)
        self._secret, self._currency = account.secret, account.currency
        whose = hashlib.sha256(f"{account.endpoint_url} {account.access_key}".encode()).hexdigest()
        self._bucket = TokenBucket(f"marketplace:{whose[:32]}", account.rate, account.burst)

    @property
    def endpoint_url(self) -> str:
        """Where calls really go, as the client says; compared with the stored endpoint before paid calls."""
        return str(self._client.meta.endpoint_url)

    def capabilities(self) -> base.Capabilities:
        """What the protocol can do."""
        return base.Capabilities(
            idempotent=frozenset({"publish", "extend", "pay_bonus"}),
            can_shrink=False,
            can_reject=True,
            reject_min_chars=1,
            unreject_days=30,
            in_frame_submit=True,
            groups=True,
            blocks=True,
            messages=True,
            fee_tiers=True,
            currency=self._currency,
        )

    # Reads

    def check(self) -> base.Balance:
        """The account's balance."""
        answer = self._read(self._client.get_account_balance)
        with outcomes.reading():
            on_hold = answer.get("OnHoldBalance")
            return base.Balance(
                self._money(answer["AvailableBalance"]), self._money(on_hold) if on_hold else None
            )

    def get_listing(self, ref: str) -> base.Listing | None:
        """One HIT, or None."""
        try:
            answer = self._read(self._client.get_hit, HITId=ref)
            with outcomes.reading():
                return self._listing(answer["HIT"])
        except base.MarketplaceRefusedError as error:
            if "HITDoesNotExist" in str(error):
                return None
            raise

    def iter_listings(self) -> Iterator[base.Listing]:
        """All HITs, newest first."""
        for hit in self._pages("list_hits", "HITs"):
            with outcomes.reading():
                listing = self._listing(hit)
            yield listing

    def find_by_key(self, key: str) -> base.Listing | None:
        """The HIT whose annotation carries the key."""
        return next((listing for listing in self.iter_listings() if listing.key == key), None)

    def iter_submissions(self, ref: str, states: Sequence[str] = ()) -> Iterator[base.Submission]:
        """Submitted assignments of a HIT."""
        status_filter = {"AssignmentStatuses": [state.capitalize() for state in states]} if states else {}
        for item in self._pages("list_assignments_for_hit", "Assignments", HITId=ref, **status_filter):
            with outcomes.reading():
                submission = submission_from(item)
            yield submission

    def get_submission(self, ref: str) -> base.Submission | None:
        """One submitted assignment, or None."""
        try:
            answer = self._read(self._client.get_assignment, AssignmentId=ref)
            with outcomes.reading():
                return submission_from(answer["Assignment"])
        except base.MarketplaceRefusedError as error:
            if "AssignmentDoesNotExist" in str(error) or "InvalidAssignmentState" in str(error):
                return None
            raise

    def iter_bonuses(self, *, listing: str = "", submission: str = "") -> Iterator[base.BonusPaid]:
        """Bonuses of a HIT or of an assignment."""
        which = {"HITId": listing} if listing else {"AssignmentId": submission}
        for item in self._pages("list_bonus_payments", "BonusPayments", **which):
            with outcomes.reading():
                paid = base.BonusPaid(
                    submission=item["AssignmentId"],
                    worker=item["WorkerId"],
                    amount=self._money(item["BonusAmount"]),
                    reason=item.get("Reason", ""),
                    paid_at=utc(item["GrantTime"]),
                )
            yield paid

    # Calls that change something

    def publish(self, task: base.TaskSpec) -> base.Outcome[str]:
        """CreateHIT with the key as token and annotation."""
        return self._change(
            self._client.create_hit,
            lambda answer: answer["HIT"]["HITId"],
            Title=task.title,
            Description=task.description,
            Keywords=task.keywords,
            Reward=dollars(task.reward.minor),
            AssignmentDurationInSeconds=task.work_seconds,
            LifetimeInSeconds=task.open_seconds,
            AutoApprovalDelayInSeconds=task.auto_approve_seconds,
            MaxAssignments=task.places,
            Question=external_question(task.entry_url, task.frame_height),
            RequesterAnnotation=KEY_PREFIX + task.key,
            UniqueRequestToken=task.key,
            QualificationRequirements=[requirement_for(rule) for rule in task.eligibility],
        )

    def extend(self, ref: str, places: int, key: str) -> base.Outcome[str]:
        """CreateAdditionalAssignmentsForHIT; never from fewer than ten places to ten or more."""
        return self._change(
            self._client.create_additional_assignments_for_hit,
            lambda _: ref,
            HITId=ref,
            NumberOfAdditionalAssignments=places,
            UniqueRequestToken=key,
        )

    def set_deadline(self, ref: str, when: datetime) -> base.Outcome[str]:
        """UpdateExpirationForHIT, unless the HIT lasts that long already: repeating it is an error."""
        try:
            listing = self.get_listing(ref)
        except base.MarketplaceDownError as error:
            return base.Unknown(str(error))
        if listing and listing.expires_at >= when:
            return base.EarlierSuccess(ref)
        return self._change(self._client.update_expiration_for_hit, lambda _: ref, HITId=ref, ExpireAt=when)

    def close(self, ref: str) -> base.Outcome[str]:
        """Expire the HIT now."""
        return self._change(
            self._client.update_expiration_for_hit,
            lambda _: ref,
            HITId=ref,
            ExpireAt=datetime(2015, 1, 1, tzinfo=UTC),
        )

    def archive(self, ref: str) -> base.Outcome[str]:
        """DeleteHIT; a HIT that is gone counts as deleted."""
        outcome = self._change(self._client.delete_hit, lambda _: ref, HITId=ref)
        if isinstance(outcome, base.CallRefusal) and (
            "'Disposed'" in outcome.text or outcome.code == "HITDoesNotExist"
        ):
            return base.EarlierSuccess(ref)
        return outcome

    def approve(self, ref: str, note: str) -> base.Outcome[str]:
        """ApproveAssignment; one that is approved already, by us or by time, counts as done."""
        outcome = self._change(
            self._client.approve_assignment,
            lambda _: ref,
            AssignmentId=ref,
            **({"RequesterFeedback": note} if note else {}),
        )
        return self._after_state_error(outcome, ref, "approved")

    def reject(self, ref: str, note: str) -> base.Outcome[str]:
        """RejectAssignment."""
        outcome = self._change(
            self._client.reject_assignment, lambda _: ref, AssignmentId=ref, RequesterFeedback=note
        )
        return self._after_state_error(outcome, ref, "rejected")

    def unreject(self, ref: str, note: str) -> base.Outcome[str]:
        """ApproveAssignment with OverrideRejection."""
        outcome = self._change(
            self._client.approve_assignment,
            lambda _: ref,
            AssignmentId=ref,
            OverrideRejection=True,
            **({"RequesterFeedback": note} if note else {}),
        )
        return self._after_state_error(outcome, ref, "approved")

    def pay_bonus(
        self, submission: str, worker: str, amount: base.Money, reason: str, key: str
    ) -> base.Outcome[str]:
        """SendBonus; the reason must already carry the reference by which it can be found again."""
        return self._change(
            self._client.send_bonus,
            lambda _: submission,
            AssignmentId=submission,
            WorkerId=worker,
            BonusAmount=dollars(amount.minor),
            Reason=reason,
            UniqueRequestToken=key,
        )

    def ensure_group(self, name: str, description: str) -> base.Outcome[str]:
        """A qualification type, found by its name where an earlier call made it.

        A marketplace that cannot say which one has the name makes another under a name of its own.
        """
        outcome = self._create_group(name, description)
        if not isinstance(outcome, base.CallRefusal) or outcome.code != "QualificationTypeAlreadyExists":
            return outcome
        try:
            qualification_types = self._pages(
                "list_qualification_types",
                "QualificationTypes",
                Query=name,
                MustBeRequestable=False,
                MustBeOwnedByCaller=True,
            )
            ids = [
                qualification_type["QualificationTypeId"]
                for qualification_type in qualification_types
                if qualification_type["Name"] == name
            ]
        except base.MarketplaceDownError as error:
            return base.Unknown(str(error))
        except base.MarketplaceRefusedError:
            ids = []
        if ids:
            return base.EarlierSuccess(ids[0])
        return self._create_group(f"{name[:180]} ({uuid.uuid4().hex[:8]})", description)

    def _create_group(self, name: str, description: str) -> base.Outcome[str]:
        return self._change(
            self._client.create_qualification_type,
            lambda answer: answer["QualificationType"]["QualificationTypeId"],
            Name=name,
            Description=description,
            QualificationTypeStatus="Active",
        )

    def grant(self, group: str, worker: str, value: int = 1) -> base.Outcome[str]:
        """AssociateQualificationWithWorker, without a notice to the worker."""
        return self._change(
            self._client.associate_qualification_with_worker,
            lambda _: worker,
            QualificationTypeId=group,
            WorkerId=worker,
            IntegerValue=value,
            SendNotification=False,
        )

    def revoke(self, group: str, worker: str) -> base.Outcome[str]:
        """DisassociateQualificationFromWorker; who does not hold it counts as done."""
        outcome = self._change(
            self._client.disassociate_qualification_from_worker,
            lambda _: worker,
            QualificationTypeId=group,
            WorkerId=worker,
        )
        if isinstance(outcome, base.CallRefusal) and outcome.code in (
            "QualificationDoesNotExist",
            "InvalidQualificationState",
        ):
            return base.EarlierSuccess(worker)
        return outcome

    def block(self, worker: str, why: str) -> base.Outcome[str]:
        """CreateWorkerBlock."""
        return self._change(self._client.create_worker_block, lambda _: worker, WorkerId=worker, Reason=why)

    def unblock(self, worker: str, why: str) -> base.Outcome[str]:
        """DeleteWorkerBlock."""
        return self._change(self._client.delete_worker_block, lambda _: worker, WorkerId=worker, Reason=why)

    def message(self, workers: Sequence[str], subject: str, text: str) -> base.Outcome[dict[str, str]]:
        """NotifyWorkers, for at most a hundred people."""
        return self._change(
            self._client.notify_workers,
            lambda answer: {
                failure["WorkerId"]: failure.get("NotifyWorkersFailureMessage", "")
                for failure in answer.get("NotifyWorkersFailureStatuses", [])
            },
            Subject=subject,
            MessageText=text,
            WorkerIds=list(workers),
        )

    # The worker's browser

    def arrival(self, query: Mapping[str, str]) -> base.Arrival:
        """The parameters that the marketplace appended to our page's address."""
        submission = query.get("assignmentId", NO_ASSIGNMENT)
        preview = submission in ("", NO_ASSIGNMENT)
        arrival = base.Arrival(
            listing=query.get("hitId", ""),
            submission="" if preview else submission,
            worker="" if preview else query.get("workerId", ""),
            submit_to=query.get("turkSubmitTo", "").rstrip("/"),
            is_preview=preview,
        )
        return replace(arrival, proven=not preview and is_proven(arrival, self._secret))

    def finish(self, arrival: base.Arrival, fields: Mapping[str, str]) -> base.PostForm:
        """The form to `turkSubmitTo`; the caller has checked its origin."""
        return base.PostForm(
            f"{arrival.submit_to}/mturk/externalSubmit", {"assignmentId": arrival.submission, **fields}
        )

    # How calls are made

    def _refuse_a_part(self, response_dict: Mapping[str, Any], **_: Any) -> None:
        """An answer that ends before its announced length; botocore reads it as an empty success."""
        announced = response_dict["headers"].get("content-length")
        if announced and int(announced) != len(response_dict["body"]):
            raise ConnectionClosedError(endpoint_url=self.endpoint_url)

    def _read(self, method: Callable[..., Any], **parameters: Any) -> Any:
        self._bucket.wait()
        try:
            answer = method(**parameters)
        except ClientError as error:
            outcome = outcomes.classify(error)
            if isinstance(outcome, base.CallRefusal):
                raise base.MarketplaceRefusedError(f"{outcome.code}: {outcome.text}") from error
            self._slow_down_after(error)
            raise base.MarketplaceDownError(str(error)) from error
        except ParamValidationError as error:
            raise base.MarketplaceRefusedError(f"ParamValidation: {error}") from error
        except BotoCoreError as error:
            raise base.MarketplaceDownError(str(error)) from error
        except outcomes.GARBAGE as error:
            raise base.MarketplaceDownError(outcomes.describe_garbage(error)) from error
        if answer is not None and not outcomes.is_of_the_protocol(answer):
            raise base.MarketplaceDownError(outcomes.SOMETHING_ELSE)
        return answer

    def _pages(self, operation: str, member: str, **parameters: Any) -> Iterator[dict[str, Any]]:
        pages = iter(
            self._client.get_paginator(operation).paginate(PaginationConfig=_PAGE, **parameters)  # type: ignore[call-overload]
        )
        while (page := self._read(lambda: next(pages, None))) is not None:
            with outcomes.reading():
                items = page[member]
            yield from items

    def _change(
        self, method: Callable[..., Any], result: Callable[[Any], Any], **parameters: Any
    ) -> base.Outcome[Any]:
        self._bucket.wait()
        try:
            answer = method(**parameters)
            if not outcomes.is_of_the_protocol(answer):
                return base.Unknown(outcomes.SOMETHING_ELSE)
            return base.CallSuccess(result(answer), {"request_id": answer["ResponseMetadata"]["RequestId"]})
        except ParamValidationError as error:
            return base.CallRefusal("ParamValidation", str(error))
        except ClientError as error:
            self._slow_down_after(error)
            return outcomes.classify(error)
        except BotoCoreError as error:
            return base.Unknown(f"{type(error).__name__}: {error}")
        except outcomes.GARBAGE as error:
            return base.Unknown(outcomes.describe_garbage(error))

    def _slow_down_after(self, error: ClientError) -> None:
        """Too many calls, whether the marketplace says so or a gateway in front of it."""
        outcome = outcomes.classify(error)
        if isinstance(outcome, base.CallThrottling) or outcomes.status_of(error) == 429:
            self._bucket.penalise(
                outcome.after if isinstance(outcome, base.CallThrottling) else outcomes.GATEWAY_PAUSE_S
            )

    def _after_state_error(
        self, outcome: base.Outcome[str], ref: str, target_state: str
    ) -> base.Outcome[str]:
        """A refusal for the assignment's state is read again: what we wanted may be so already."""
        if not isinstance(outcome, base.CallRefusal) or "InvalidAssignmentState" not in outcome.code:
            return outcome
        if "status of: null" in outcome.text:
            return base.CallThrottling(30.0)
        try:
            submission = self.get_submission(ref)
        except base.MarketplaceDownError as error:
            return base.Unknown(str(error))
        return base.EarlierSuccess(ref) if submission and submission.state == target_state else outcome

    def _money(self, amount: str) -> base.Money:
        return base.Money(cents(amount), self._currency)

    def _listing(self, hit: Mapping[str, Any]) -> base.Listing:
        status, available = hit["HITStatus"], hit["NumberOfAssignmentsAvailable"]
        annotation = hit.get("RequesterAnnotation", "")
        state = {"Assignable": "open", "Disposed": "archived"}.get(status)
        if state is None:
            state = "full" if status == "Unassignable" else "reviewable"
        return base.Listing(
            ref=hit["HITId"],
            key=annotation.removeprefix(KEY_PREFIX) if annotation.startswith(KEY_PREFIX) else None,
            state=state,  # type: ignore[arg-type]
            places=hit["MaxAssignments"],
            available=available,
            pending=hit["NumberOfAssignmentsPending"],
            decided=hit["NumberOfAssignmentsCompleted"],
            expires_at=utc(hit["Expiration"]),
            reward=self._money(hit["Reward"]),
            raw=hit,
        )
