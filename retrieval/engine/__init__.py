"""Search engines behind one small interface."""

from retrieval.engine.base import Engine, Scored

__all__ = ["Engine", "Scored"]
