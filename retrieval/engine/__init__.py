"""Search engines behind one small interface."""

from retrieval.engine.base import Engine, ScoredPassage

__all__ = ["Engine", "ScoredPassage"]
