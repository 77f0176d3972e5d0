"""How fast, how much memory: one module per question, answers as ratios against a named baseline in the same run.

``python -m benchmarks`` measures everything, prints it, and writes ``results/<question>.json`` and docs/benchmarks.md.
``python -m benchmarks table`` measures one question, ``python -m benchmarks --write-docs`` only writes the page.

To ask a new question, write a module with a ``TITLE``, a ``METHOD`` and a function ``measure() -> list[Figure]``, and
name it in ``QUESTIONS`` of ``__main__``.
"""
