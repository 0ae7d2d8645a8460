"""A standing attack on elect: hostile tables, files, command lines, callers, browsers and machines.

``python -m attack --seconds 600`` (``make attack``) goes on from where it was stopped. An attack is a file with a
hypothesis strategy, ``cases``, and a function, ``run``, that tries one case and gives a ``Verdict``. The property is
the same everywhere: a sensible result with the rows in their order, or one line and status 2, and nothing half-written.

What breaks it is made as small as hypothesis can make it and kept in ``attack/finds``, where ``tests/test_attack.py``
finds it: a find is a test from then on.
"""
