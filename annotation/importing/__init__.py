"""Query logs and public data sets: read as streams, screened by rule, sampled exactly. No Django in here.

`detect.open_reader` finds the format. The file is read twice: `run.survey` counts what is there, `run.fetch`
reads the records that were drawn.
"""
