"""Reading files of answers that systems gave."""
