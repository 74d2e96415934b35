"""Addresses of the requester site. Below the first, all of them name the requester by its customer id."""

from django.urls import path

from marketplace.requester.views import accounts, controls, invoices, keys, money, overview, payables
from marketplace.requester.views import letters, overview
from marketplace.requester.views import batches, batchreviews, overview, templates

app_name = "requester"
_R = "<slug:requester>/"
_BATCH = f"{_R}batches/<int:number>/"
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
    path(f"{_R}templates/", templates.templates, name="templates"),
    path(f"{_R}templates/new/", templates.new, name="new_template"),
    path(f"{_R}templates/<int:pk>/", templates.template, name="template"),
    path(f"{_R}templates/<int:pk>/look/", templates.look, name="template_look"),
    path(f"{_R}templates/<int:pk>/delete/", templates.delete, name="template_delete"),
    path(f"{_R}samples/<slug:slug>/", templates.use_sample, name="use_sample"),
    path(f"{_R}samples/<slug:slug>/tasks.csv", templates.sample_table, name="sample_table"),
    path(f"{_R}batches/", batches.batches, name="batches"),
    path(f"{_R}batches/new/", batches.new, name="new_batch"),
    path(_BATCH, batches.batch, name="batch"),
    path(f"{_BATCH}live/", batches.live, name="batch_live"),
    path(f"{_BATCH}properties/", batches.properties, name="batch_properties"),
    path(f"{_BATCH}hosts/", batches.set_hosts, name="batch_hosts"),
    path(f"{_BATCH}tasks/<int:ordinal>/", batches.task, name="batch_task"),
    path(f"{_BATCH}publish/", batches.publish, name="batch_publish"),
    path(f"{_BATCH}cancel/", batches.cancel, name="batch_cancel"),
    path(f"{_BATCH}delete/", batches.delete, name="batch_delete"),
    path(f"{_BATCH}results.csv", batches.results_file, name="batch_results"),
    path(f"{_BATCH}review/", batchreviews.upload, name="batch_review"),
    path(f"{_BATCH}review/<int:job>/", batchreviews.report, name="batch_review_report"),
    path(f"{_BATCH}review/<int:job>/live/", batchreviews.live, name="batch_review_live"),
]
