"""Rarer parts of MTurk: topics and queues, former ids, worker files and archives, review policies."""
