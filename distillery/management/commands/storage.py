"""`manage.py storage`: its bucket is made, and what this host has alone goes to it."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from core.storage import SharedStore, shared_store
from core.storage_outages import StorageUnavailableError
from evaluations import model_shelf
from retrieval.copies import publish_index, publish_network
from retrieval.errors import RetrievalError
from retrieval.models import Corpus, Index, WordNetwork
from retrieval.services.corpora import working_on


class Command(BaseCommand):
    """Everything is left here too; what is published already costs a look."""

    help = "Make the bucket of DATA_STORAGE (prepare), or publish what this host has alone there (publish)."

    def add_arguments(self, parser: CommandParser) -> None:
        """Two sub-commands."""
        parser.add_argument("what", choices=["prepare", "publish"])

    def handle(self, *args: Any, **options: Any) -> None:
        """Make the bucket; or publish uploads, models, indexes and networks."""
        store = shared_store()
        if not store.is_shared:
            raise CommandError("DATA_STORAGE is empty: there is no storage to publish to.")
        try:
            if options["what"] == "prepare":
                store.prepare()
            else:
                self._publish(store)
        except StorageUnavailableError as error:
            raise CommandError(str(error)) from error

    def _publish(self, store: SharedStore) -> None:
        self.stdout.write(f"uploads: {_publish_uploads(store)}")
        models = [each for each in model_shelf.shelf() if not each.wrong and not each.bundle]
        for each in models:
            model_shelf.publish(each)
        self.stdout.write(f"models: {len(models)}")
        for corpus in Corpus.objects.select_related("index", "project").order_by("pk"):
            try:
                _publish_corpus(corpus)
            except RetrievalError as error:
                self.stdout.write(f"{corpus.project.slug}/{corpus.slug}: {error}")
            else:
                self.stdout.write(f"{corpus.project.slug}/{corpus.slug}: published")
        if not settings.RELEASES_STORAGE.startswith(settings.DATA_STORAGE):
            self.stdout.write(f"releases stay in {settings.RELEASES_STORAGE}; every host needs that place.")


def _publish_uploads(store: SharedStore) -> int:
    root, count = Path(settings.DATA_DIR), 0
    for path in sorted((root / "imports").glob("*/*"), key=lambda path: (path.suffix, path)):
        if path.is_file() and path.suffix != ".part" and not path.name.startswith("."):
            store.put(path.relative_to(root).as_posix(), path)
            count += path.suffix == ""
    return count


def _publish_corpus(corpus: Corpus) -> None:
    with working_on(corpus):
        index = Index.objects.get(corpus=corpus)
        if index.generation and not index.published:
            Index.objects.filter(pk=index.pk).update(published=publish_index(index))
        network = WordNetwork.objects.filter(corpus=corpus, generation__gt=0, published="").first()
        if network is not None:
            WordNetwork.objects.filter(pk=network.pk).update(published=publish_network(network))
