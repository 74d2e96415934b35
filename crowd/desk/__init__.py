"""The researcher's desk: pages of projects, their stages, the work that comes in and what it costs."""
