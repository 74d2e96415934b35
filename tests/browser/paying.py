"""People who are owed real money, each in another state, for the pages of payout files."""

from marketplace import clock
from marketplace.accounts import people
from marketplace.models import Requester, Worker, YearlyLimit
from marketplace.money import deposits, finance, payees, payouts
from tests.requester.test_money import earn
from tests.site import world


def fill() -> None:
    """The requester `Real Lab` with two reports: a file whose one line failed, and people who wait."""
    lab, _ = people.create_requester(name="Real Lab", real_money=True)
    lab = deposits.deposit(requester=lab, cents=1_000_000)
    for number, name in enumerate(("ana", "bo", "cleo", "dara")):
        worker = world.make_worker(f"{name}pays")
        earn(lab, worker, reward=1250 + number, title=f"Task of {name}")
        if name != "dara":
            method = "paypal" if name != "cleo" else "tremendous"
            given = {"name": name.title(), "email": f"{name}@example.org"}
            payees.set_payee(worker=worker, method=method, entries=given)
    first = finance.make_payable(requester=lab, until=clock.now())
    payout, _ = payouts.make_payout(report=first, method="paypal")
    payouts.hand_out(payout=payout)
    failed = payouts.Result(2, payout.lines.get(number=1).reference, "failed", "The account is closed")
    payouts.book_results(requester=lab, results=[failed], name="back.csv")
    YearlyLimit.objects.create(worker=worker, year=clock.now().year, held_at=clock.now())
    earn(lab, worker, reward=900, title="More of dara")
    finance.make_payable(requester=lab, until=clock.now())


def prepare(*, requester: str, worker: str) -> None:
    """A requester's money is real, and a worker said how they are paid."""
    Requester.objects.filter(name=requester).update(real_money=True)
    account = Worker.objects.get(name=worker)
    entries = {"name": "Mira Lind", "email": "mira@example.org"}
    payees.set_payee(worker=account, method="paypal", entries=entries)


COMMANDS = {"fill": fill, "prepare": prepare}
