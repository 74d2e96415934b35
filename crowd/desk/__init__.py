"""The researcher's desk: pages of projects, their stages, the work that comes in and what it costs.

A view loads with its permission, calls a service or a selector, and shows a page.
"""
