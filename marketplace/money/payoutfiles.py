"""Files by which services pay many people at once: the same stored lines give the same file.

What a service reads is written as it is, so each value has to be legal before (`fault_of`); the tables for
people have no cell that a spreadsheet runs.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from xml.sax.saxutils import escape

from core.files.cells import cell, csv_text
from core.money import banks_letters, dollars
from marketplace.models import PayMethod

_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")  # noqa: RUF001 - wide forms of the signs are meant


@dataclass(frozen=True, slots=True)
class Sender:
    """Whose account pays."""

    name: str = ""
    iban: str = ""
    bic: str = ""


@dataclass(frozen=True, slots=True)
class Instruction:
    """One payment: to whom, how much, and what the service sends back with its result."""

    reference: str
    worker_id: str
    cents: int
    details: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Order:
    """Everything that is in a file."""

    name: str
    method: str
    currency: str
    made_at: datetime
    sender: Sender
    instructions: Sequence[Instruction]


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of file: its ending, how many lines a service takes in one, and how it is written."""

    ending: str
    most: int
    write: Callable[[Order], str]
    content_type: str = "text/csv; charset=utf-8"


def fault_of(method: str, details: Mapping[str, str]) -> str:
    """Why a service would not take these details, with a remedy; empty where it would."""
    for name, value in details.items():
        if value.startswith(_FORMULA):
            return f"the {name} begins with {value[0]}, which looks like a formula; ask for another spelling"
        if not value.isprintable():
            return f"the {name} has characters that cannot be printed; ask for it again"
    if method == PayMethod.SEPA:
        try:
            banks_letters(details["name"])
        except ValueError as error:
            return f"{str(error)[0].lower()}{str(error)[1:].rstrip('.')}"
    return ""


def content_of(order: Order) -> bytes:
    """The file."""
    return FORMATS[order.method].write(order).encode()


def _paypal(order: Order) -> str:
    """Payouts by file: no header; recipient, amount, currency, our reference, a note, the wallet."""
    return csv_text(
        (each.details["email"], dollars(each.cents), order.currency, each.reference, order.name, "PAYPAL")
        for each in order.instructions
    )


_WISE = (
    "name", "recipientEmail", "paymentReference", "receiverType", "amountCurrency", "amount",
    "sourceCurrency", "targetCurrency",
)  # fmt: skip


def _wise(order: Order, target: str = "", more: Mapping[str, str] | None = None) -> str:
    """A batch: columns of the service's template; `more` are those of the account, and our fields.

    In another currency than ours people get what the amount is worth on the day.
    """
    to = target or order.currency
    fixed = "target" if to == order.currency else "source"
    more = more or {}
    rows: list[Iterable[object]] = [[*_WISE, *more]]
    rows += [
        [
            each.details["name"],
            each.details.get("email", ""),
            each.reference,
            "PERSON",
            fixed,
            dollars(each.cents),
            order.currency,
            to,
            *(each.details.get(ours, "") for ours in more.values()),
        ]
        for each in order.instructions
    ]
    return csv_text(rows)


def _wise_iban(order: Order) -> str:
    return _wise(order, "EUR", {"IBAN": "iban"})


def _wise_us(order: Order) -> str:
    columns = {
        "abartn": "routing",
        "accountNumber": "account",
        "accountType": "kind",
        "addressFirstLine": "street",
        "addressCity": "city",
        "addressState": "state",
        "addressPostCode": "postcode",
        "addressCountryCode": "country",
    }
    return _wise(order, "USD", columns)


def _tremendous(order: Order) -> str:
    rows: list[Iterable[object]] = [("Name", "Email", "Amount", "Currency", "External ID")]
    rows += [
        (each.details["name"], each.details["email"], dollars(each.cents), order.currency, each.reference)
        for each in order.instructions
    ]
    return csv_text(rows)


def _for_people(order: Order) -> str:
    """A table for whoever pays by hand: every text is safe in a spreadsheet."""
    fields = list(dict.fromkeys(name for each in order.instructions for name in each.details))
    rows: list[Iterable[object]] = [("reference", "worker_id", "amount", "currency", *fields)]
    rows += [
        (
            each.reference,
            cell(each.worker_id),
            dollars(each.cents),
            order.currency,
            *(cell(each.details.get(name, "")) for name in fields),
        )
        for each in order.instructions
    ]
    return csv_text(rows)


_PAIN = "urn:iso:std:iso:20022:tech:xsd:pain.001.001.09"


def _node(name: str, *inside: str, text: str = "", **attributes: str) -> str:
    attribute_text = "".join(f' {key}="{escape(value)}"' for key, value in attributes.items())
    return f"<{name}{attribute_text}>{escape(text)}{''.join(inside)}</{name}>"


def _bank(name: str, code: str) -> str:
    identification = _node("BICFI", text=code) if code else _node("Othr", _node("Id", text="NOTPROVIDED"))
    return _node(name, _node("FinInstnId", identification))


def _account(name: str, number: str) -> str:
    return _node(name, _node("Id", _node("IBAN", text=number)))


def _party(name: str, called: str) -> str:
    return _node(name, _node("Nm", text=banks_letters(called)))


def message_id(name: str, made_at: datetime) -> str:
    """By what a SEPA file is named in a bank's answer."""
    return f"{name}-{made_at:%Y%m%d%H%M%S}"


def _sepa(order: Order) -> str:
    """ISO 20022 pain.001.001.09, as the SEPA rulebook uses it: one debtor, one day, charges shared by law."""
    count = _node("NbOfTxs", text=str(len(order.instructions)))
    total = _node("CtrlSum", text=dollars(sum(each.cents for each in order.instructions)))
    stamp = message_id(order.name, order.made_at)
    header = _node(
        "GrpHdr",
        _node("MsgId", text=stamp),
        _node("CreDtTm", text=f"{order.made_at:%Y-%m-%dT%H:%M:%SZ}"),
        count,
        total,
        _party("InitgPty", order.sender.name),
    )
    payments = "\n".join(_transfer(each, order) for each in order.instructions)
    batch = _node(
        "PmtInf",
        _node("PmtInfId", text=stamp),
        _node("PmtMtd", text="TRF"),
        count,
        total,
        _node("PmtTpInf", _node("SvcLvl", _node("Cd", text="SEPA"))),
        _node("ReqdExctnDt", _node("Dt", text=f"{order.made_at:%Y-%m-%d}")),
        _party("Dbtr", order.sender.name),
        _account("DbtrAcct", order.sender.iban),
        _bank("DbtrAgt", order.sender.bic),
        _node("ChrgBr", text="SLEV"),
        f"\n{payments}\n",
    )
    inside = _node("CstmrCdtTrfInitn", header, batch)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{_node("Document", inside, xmlns=_PAIN)}\n'


def _transfer(each: Instruction, order: Order) -> str:
    code = each.details.get("bic", "")
    return _node(
        "CdtTrfTxInf",
        _node("PmtId", _node("EndToEndId", text=each.reference)),
        _node("Amt", _node("InstdAmt", text=dollars(each.cents), Ccy=order.currency)),
        _bank("CdtrAgt", code) if code else "",
        _party("Cdtr", each.details["name"]),
        _account("CdtrAcct", each.details["iban"]),
        _node("RmtInf", _node("Ustrd", text=each.reference)),
    )


FORMATS: dict[str, Format] = {
    PayMethod.PAYPAL: Format("csv", 5_000, _paypal),
    PayMethod.WISE: Format("csv", 1_000, _wise),
    PayMethod.WISE_IBAN: Format("csv", 1_000, _wise_iban),
    PayMethod.WISE_US: Format("csv", 1_000, _wise_us),
    PayMethod.SEPA: Format("xml", 10_000, _sepa, "application/xml; charset=utf-8"),
    PayMethod.TREMENDOUS: Format("csv", 1_000, _tremendous),
    PayMethod.BANK: Format("csv", 10_000, _for_people),
    PayMethod.NONE: Format("csv", 10_000, _for_people),
}
