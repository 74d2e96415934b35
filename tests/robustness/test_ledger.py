"""Money after hundreds of random steps, counted again from what the protocol says."""

import random
from datetime import timedelta
from decimal import ROUND_HALF_UP, Decimal

from botocore.exceptions import ClientError

from tests.clients import RefusedError
from tests.conformance.protocol import assignments, create_hit, get_hit
from tests.scale import limit_cases

SEED = 20261120
STEPS = limit_cases(500, least=120)
DEPOSIT = Decimal("60.00")
CENT = Decimal("0.01")


def with_fee(amount, rate):
    return amount + max(CENT, (amount * rate).quantize(CENT, ROUND_HALF_UP))


class Session:
    """A requester and four workers who do anything at random."""

    def __init__(self, server, seed):
        self.server = server
        self.chance = random.Random(seed)
        self.requester = server.requester(str(DEPOSIT), "mturk-2026")
        self.client = self.requester.client
        self.workers = [server.worker() for _ in range(4)]
        self.hits = []
        self.cost = {}
        self.taken = []
        self.done = []
        self.bonuses = {}
        self.steps = {}

    def step(self):
        name, act = self.chance.choice(
            [
                *[("create", self.create)] * 3,
                *[("accept", self.accept)] * 6,
                *[("submit", self.submit)] * 6,
                ("return", self.give_back),
                *[("approve", self.approve)] * 3,
                ("reject", self.reject),
                ("override", self.override),
                *[("bonus", self.bonus)] * 2,
                ("extend", self.extend),
                ("expire", self.expire),
                ("prolong", self.prolong),
                ("delete", self.delete),
                ("wait", self.wait),
            ]
        )
        try:
            act()
        except (ClientError, RefusedError, IndexError) as refusal:
            name = f"{name} refused"
            if isinstance(refusal, ClientError):
                assert refusal.response["Error"]["Code"] == "RequestError", refusal
            elif isinstance(refusal, RefusedError):
                assert 400 <= refusal.status < 500, refusal
        self.steps[name] = self.steps.get(name, 0) + 1

    def create(self):
        reward = Decimal(self.chance.choice(["0.00", "0.01", "0.05", "0.10", "0.52", "1.00"]))
        most = self.chance.choice([1, 2, 3, 9, 10, 12])
        hit = create_hit(
            self.client,
            Reward=str(reward),
            MaxAssignments=most,
            LifetimeInSeconds=self.chance.choice([60, 3600, 100_000]),
            AssignmentDurationInSeconds=self.chance.choice([30, 600]),
            AutoApprovalDelayInSeconds=self.chance.choice([0, 600, 100_000]),
        )
        self.hits.append(hit)
        rate = Decimal("0.40") if most >= 10 else Decimal("0.20")
        self.cost[hit["HITId"]] = with_fee(reward, rate)

    def accept(self):
        worker = self.chance.choice(self.workers)
        self.taken.append((worker, worker.accept(self.chance.choice(self.hits[-8:])["HITId"])))

    def some_taken(self):
        self.chance.shuffle(self.taken)
        return self.taken.pop()

    def submit(self):
        worker, taken = self.some_taken()
        if worker.submit(taken, answer="yes").status == 200:
            self.done.append((worker, taken["assignment_id"]))

    def give_back(self):
        worker, taken = self.some_taken()
        worker.give_back(taken)

    def approve(self):
        self.client.approve_assignment(AssignmentId=self.chance.choice(self.done)[1])

    def reject(self):
        self.client.reject_assignment(
            AssignmentId=self.chance.choice(self.done)[1], RequesterFeedback="This is empty."
        )

    def override(self):
        self.client.approve_assignment(AssignmentId=self.chance.choice(self.done)[1], OverrideRejection=True)

    def bonus(self):
        worker, assignment_id = self.chance.choice(self.done)
        amount = Decimal(self.chance.choice(["0.01", "0.07", "0.50"]))
        token = str(self.chance.randrange(60))
        self.client.send_bonus(
            WorkerId=worker.worker_id,
            AssignmentId=assignment_id,
            BonusAmount=str(amount),
            Reason="thank you",
            **({"UniqueRequestToken": token} if self.chance.random() < 0.7 else {}),
        )
        self.bonuses.setdefault(assignment_id, []).append(amount)

    def extend(self):
        self.client.create_additional_assignments_for_hit(
            HITId=self.chance.choice(self.hits)["HITId"],
            NumberOfAdditionalAssignments=self.chance.randint(1, 3),
        )

    def expire(self):
        self.client.update_expiration_for_hit(HITId=self.chance.choice(self.hits)["HITId"], ExpireAt=0)

    def prolong(self):
        hit = get_hit(self.client, self.chance.choice(self.hits))
        self.client.update_expiration_for_hit(
            HITId=hit["HITId"],
            ExpireAt=hit["Expiration"] + timedelta(seconds=self.chance.randint(60, 200_000)),
        )

    def delete(self):
        self.client.delete_hit(HITId=self.chance.choice(self.hits)["HITId"])

    def wait(self):
        self.server.advance(self.chance.choice([5, 40, 700, 4000]))

    def balance(self):
        said = self.client.get_account_balance()
        return Decimal(said["AvailableBalance"]), Decimal(said["OnHoldBalance"])

    def counted(self):
        """Available and on hold, from the HITs and bonuses that the protocol lists."""
        held = spent = Decimal(0)
        now = self.server.advance(0)
        for made in self.hits:
            work = assignments(self.client, made)
            hit = get_hit(self.client, made)
            by_status = [answer["AssignmentStatus"] for answer in work]
            occupied = hit["NumberOfAssignmentsPending"] + by_status.count("Submitted")
            closed = hit["HITStatus"] == "Disposed" or hit["Expiration"].timestamp() <= now
            waiting = occupied if closed else occupied + hit["NumberOfAssignmentsAvailable"]
            held += waiting * self.cost[hit["HITId"]]
            spent += by_status.count("Approved") * self.cost[hit["HITId"]]
        for assignment_id, amounts in self.bonuses.items():
            listed = self.client.list_bonus_payments(AssignmentId=assignment_id, MaxResults=100)
            assert sorted(Decimal(b["BonusAmount"]) for b in listed["BonusPayments"]) == sorted(amounts)
            spent += sum(with_fee(amount, Decimal("0.20")) for amount in amounts)
        return DEPOSIT - held - spent, held


def test_the_ledger_balances_after_random_steps(server):
    """Deposits = available + on hold + paid + fees, half-way, at the end, and when all HITs are over."""
    session = Session(server, SEED)
    for number in range(1, STEPS + 1):
        session.step()
        if number % (STEPS // 2) == 0:
            assert session.balance() == session.counted(), f"after step {number}: {session.steps}"
    assert all(session.steps.get(name) for name in ("create", "submit", "approve", "reject", "bonus"))
    for hit in session.hits:
        session.server.advance(1)
        if get_hit(session.client, hit)["HITStatus"] == "Assignable":
            session.client.update_expiration_for_hit(HITId=hit["HITId"], ExpireAt=0)
    server.advance(200_000)
    available, held = session.balance()
    assert (available, held) == session.counted()
    assert held == 0
    server.manage("marketplace", "audit")
