"""Makes a report to pay out, or an invoice, and stops at a point of its work until it is killed.

    python -m tests.requester.dying WHAT REQUESTER POINT

Points: 1 the row is there, 2 before it is written in full, 3 all is written but not committed, 4 committed.
Prints "reached", and waits.
"""

import sys
from datetime import timedelta

import django


def main() -> None:
    """Patches nothing that changes what is written."""
    django.setup()
    from django.db.models import Model
    from django.db.models.query import QuerySet

    from marketplace import clock
    from marketplace.models import Requester
    from marketplace.money import finance

    what, name, point = sys.argv[1], sys.argv[2], int(sys.argv[3])
    requester = Requester.objects.get(name=name)
    update, save = QuerySet.update, Model.save

    def reached(number):
        if number == point:
            sys.stdout.write("reached\n")
            sys.stdout.flush()
            sys.stdin.read()

    def watched_update(rows, **values):
        if "payable" in values:
            reached(1)
        done = update(rows, **values)
        if "payable" in values:
            reached(2)
        return done

    def watched_save(row, *args, **options):
        done = save(row, *args, **options)
        if getattr(row, "cents", 0) and type(row).__name__ in ("Payable", "Invoice"):
            reached(3)
        return done

    QuerySet.update, Model.save = watched_update, watched_save
    if what == "payable":
        finance.make_payable(requester=requester, until=clock.now(), simulated=True)
    else:
        now = clock.now()
        finance.issue_invoice(
            requester=requester, begins=now - timedelta(days=30), ends=now - finance.SETTLED_AFTER
        )
    reached(4)


if __name__ == "__main__":
    main()
