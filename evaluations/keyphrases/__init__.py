"""Weights of the words of a query's references and of an answer, as a page shows them (KPQA, Table 5).

A worker weighs them once: the job is known by what it weighs, and holds numbers alone when it is done. What
somebody typed travels encrypted, and goes when the job ends.
"""
