"""Query logs and public data sets: read as streams, screened by rule, sampled exactly. No Django in here.

`detect.open_reader` finds the format, `run.sample_file` goes through the file twice: once to count what is
there, once to fetch the records that were drawn.
"""
