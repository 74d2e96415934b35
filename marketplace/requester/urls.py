"""Addresses of the requester site. Below the first, all of them name the requester by its customer id."""

from django.urls import path

from marketplace.requester.views import batches, batchreviews, overview, templates

app_name = "requester"
_R = "<slug:requester>/"
_BATCH = f"{_R}batches/<int:number>/"
urlpatterns = [
    path(_R, overview.overview, name="overview"),
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
