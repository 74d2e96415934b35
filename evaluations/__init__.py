"""Which automatic metric agrees with people: evaluations of releases and of any table of scored answers."""
