"""One evaluation's work in parts, on as many workers as there are.

Whoever runs an evaluation puts the parts into rows and computes them one after another; other workers take
parts out of the same rows. So one worker alone comes to the end, nobody waits for a worker that is not there,
and what is computed does not depend on who computes it.
"""
