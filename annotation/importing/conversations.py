"""Earlier turns of a conversation, for files that have a turn a line."""

from annotation.importing.records import Record, Refuse

MOST_TURNS = 200


class Conversations:
    """Gives each record the turns before it, in constant memory: turns of a conversation stand together.

    A record that is out of place is refused, for its context would be wrong.
    """

    def __init__(self) -> None:
        self._now = ""
        self._turn = 0
        self._before: list[str] = []

    def joins(self, record: Record, refuse: Refuse) -> bool:
        """Fill in its context; False if it was refused. Records without a conversation stand alone."""
        if not record.conversation:
            self._now = ""
            return True
        if record.context:
            return True
        if record.conversation != self._now:
            if record.turn not in (None, 1):
                refuse(
                    record.line,
                    f"Turn {record.turn} of conversation {record.conversation!r} stands without the turns "
                    "before it: lines of a conversation must stand together, from turn 1 on.",
                )
                return False
            self._now, self._turn, self._before = record.conversation, 0, []
        turn = record.turn or self._turn + 1
        if turn <= self._turn:
            refuse(
                record.line,
                f"Turn {turn} of conversation {record.conversation!r} comes after turn {self._turn}.",
            )
            return False
        if len(self._before) >= MOST_TURNS:
            refuse(record.line, f"Conversation {record.conversation!r} has more than {MOST_TURNS} turns.")
            return False
        record.turn, self._turn = turn, turn
        record.context = list(self._before)
        self._before.append(record.text)
        return True
