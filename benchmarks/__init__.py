"""Time and memory: one module per question, answers as ratios to a baseline in the same run.

``python -m benchmarks`` measures everything, prints it, and writes ``results/<question>.json``:
what was measured, how, when and on which machine. ``python -m benchmarks table`` measures one
question. Six figures go into docs/reproduction.md; ``--write-docs`` does only that. The picture of
questions is drawn where matplotlib is installed (``pip install -e ".[docs]"``).

To ask a new question, write a module with a ``TITLE``, a ``METHOD`` and a function ``measure()``
that returns a list of Figures, Tables and Pictures, and name it in ``QUESTIONS`` of ``__main__``. A
question that cannot be asked here, for want of data or of an optional package, raises
NotMeasuredError; the results kept from elsewhere then stay.
"""
