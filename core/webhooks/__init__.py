"""Webhooks: messages about what happened, signed, in order, sent to addresses of projects and requesters."""
