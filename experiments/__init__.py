"""What measures, learners and guarantees do on seven data sets: runs of ``labelsure compare``, kept and shown.

``python -m experiments`` (or ``make experiments``) runs the plan in ``_plan.py``: each run is one command line of
``labelsure compare``, whose results are kept in ``results/<name>.json`` cell by cell, so that a run that was stopped
goes on where it stopped. Then docs/experiments.md is written from what is kept; ``--write-docs`` does only that. The
data sets must be at hand, in the folder that the environment variable LABELSURE_DATA names, or reachable.
"""
