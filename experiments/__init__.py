"""What measures, learners and guarantees do on seven data sets.

``python -m experiments`` (or ``make experiments``) measures the plan in ``_plan.py``, cell by cell
into ``results/<name>.json``; a run that was stopped goes on where it stopped. Then a block of
docs/reproduction.md is written from the results; ``--write-docs`` does only that. The data sets
must be at hand, in the folder that the environment variable LABELSURE_DATA names, or reachable.
"""
