"""What can be noticed about an answer, as pure functions over strings and dataclasses.

A flag never changes or removes anything: it tells a reviewer what was measured, which bound it passed, and
where in the text. `registry` names them all and explains them; `suite` computes them for one query.
"""
