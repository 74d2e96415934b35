"""The answers of systems."""

from judgments.models import Candidate, System
from releases.rows.batches import some_of
from releases.rows.scope import AT_ONCE, Scope
from releases.tables import Batches


def candidate_rows(scope: Scope) -> Batches:
    """Rows of the table `candidates` in the order of import.

    An answer of people that was held out is blacked out wherever the answer itself is.
    """
    rows = Candidate.objects.using(scope.using).filter(system__project=scope.project)
    columns = (
        scope.of_queries(rows)
        .order_by("pk")
        .values_list("pk", "answer_id", "answer__worker_id", "system__kind", "text", "opinion", "aside")
    )
    hidden = scope.redactions.of
    for read in some_of(columns.iterator(AT_ONCE), AT_ONCE):
        some = [row for row in read if row[0] in scope.candidates]
        scope.people.names(row[2] for row in some if row[2] is not None)
        batch = []
        for pk, answer, writer, kind, raw, opinion, aside in some:
            name, key, system, split = scope.candidates[pk]
            text = hidden(f"candidate:{pk}", "text", raw)
            if answer is not None:
                text = hidden(f"answer:{answer}", "text", text)
            people, simulated = kind == System.Kind.HUMAN, writer in scope.people.simulated
            batch.append((name, key, system, people, text, opinion, aside, simulated, split))
        if batch:
            yield batch
