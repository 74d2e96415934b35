"""Stages with several sources."""
