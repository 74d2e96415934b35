"""What must stay as it is when code moves or gets another name, as text files that a person can read.

Commands and their options, addresses, tasks, environment variables, tables, metric signatures and values, the
bytes of a release and of a report, the bytes of the protocol, and what is loaded at start. Each test renders
one of them and compares it with its file in `snapshots/`. A change that is meant is written with

    make contracts

and its difference is read in the review like any other.
"""
