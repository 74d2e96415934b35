"""Addresses of the requester site. Below the first, all of them name the requester by its customer id."""

from django.urls import path

from marketplace.requester.views import accounts, controls, invoices, keys, money, overview, payables
from marketplace.requester.views import letters, overview

app_name = "requester"
_R = "<slug:requester>/"
urlpatterns = [
    path("new/", accounts.new, name="new"),
    path(_R, overview.overview, name="overview"),
    path(f"{_R}money/", money.statement, name="money"),
    path(f"{_R}money/deposit", money.deposit, name="deposit"),
    path(f"{_R}money/payables/", payables.payables, name="payables"),
    path(f"{_R}money/payables/new", payables.make_payable, name="make_payable"),
    path(f"{_R}money/payables/<int:payable>/", payables.payable, name="payable"),
    path(f"{_R}money/payables/<int:payable>/paid", payables.pay_out, name="pay_out"),
    path(f"{_R}money/invoices/", invoices.invoices, name="invoices"),
    path(f"{_R}money/invoices/new", invoices.new_invoice, name="new_invoice"),
    path(f"{_R}money/invoices/<int:invoice>/", invoices.invoice, name="invoice"),
    path(f"{_R}controls/", controls.controls, name="controls"),
    path(f"{_R}controls/reset", controls.no_faults, name="no_faults"),
    path(f"{_R}controls/clock", controls.advance, name="advance"),
    path(f"{_R}keys/", keys.keys, name="keys"),
    path(f"{_R}keys/new", keys.new_key, name="new_key"),
    path(f"{_R}keys/<int:key>/end", keys.end_key, name="end_key"),
    path(f"{_R}letters/", letters.letters, name="letters"),
    path(f"{_R}letters/<int:letter>/", letters.letter, name="letter"),
    path(f"{_R}letters/<int:letter>/settle", letters.settle, name="settle_letter"),
    path(f"{_R}ratings/", letters.ratings, name="ratings"),
]
