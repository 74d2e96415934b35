"""`python -m distillery COMMAND`: the same commands as `manage.py` and `distillery`."""

from distillery.console import main

if __name__ == "__main__":
    main()
