"""The other side of the wire: one interface, one adapter per protocol.

Adapters hold no state and never repeat a call that changes something: they say what became of one call
(`Outcome`), and the outbox decides.
"""
