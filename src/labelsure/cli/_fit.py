"""``labelsure fit``: from a table to a model file."""

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from labelsure._errors import CommandError
from labelsure.cli import _arguments as words
from labelsure.cli._kept import keep_fits
from labelsure.cli._models import (
    add_jobs,
    add_label_options,
    add_predict_for,
    add_scheduler,
    asked_labels,
    connected,
    counted,
    few,
    in_one_line,
    labels_in_words,
    metric_of,
    note,
    noted_warnings,
)
from labelsure.cli._writing import readable_size, say

SUFFIX = ".labelsure"


def add_parser(commands: Any) -> None:
    """Add the command to ``commands``, argparse's subparsers."""
    parser = commands.add_parser(
        "fit",
        help="learn from a table of your own, and save the model",
        description=(
            "Learn labels from a CSV, Parquet, ARFF or libsvm file, calibrate, and save the"
            " model. Columns are numbers"
            " or categories, as they look; gaps are fine. What is made of them is printed, and"
            " kept with the model. An"
            " interrupted run goes on when the same command is given again."
        ),
        epilog=f"Learners: {'; '.join(f'{name}: {what}' for name, what in words.LEARNERS.items())}."
        " Measures: see docs/measures.md.",
    )
    parser.add_argument(
        "data", type=Path, metavar="DATA", help="a CSV, Parquet, ARFF or libsvm file"
    )
    add_learning(parser)
    parser.add_argument(
        "--model",
        required=True,
        type=_model_file,
        metavar="FILE",
        help=f"where to save it ({SUFFIX})",
    )
    parser.add_argument(
        "--measure",
        type=words.measure_name,
        default="posterior",
        metavar="NAME",
        help="(default: posterior)",
    )
    parser.add_argument(
        "--guarantee",
        type=words.guarantee_name,
        default="cross",
        metavar="NAME",
        help="(default: cross)",
    )
    parser.add_argument(
        "--folds", type=words.count, default=10, metavar="K", help="folds (default: 10)"
    )
    add_predict_for(parser, "auto")
    add_scheduler(parser)
    parser.set_defaults(run=run)


def add_learning(parser: ArgumentParser) -> None:
    """Add what every command that learns from a table asks: its columns, what learns, the seed and the cores."""
    add_label_options(parser)
    parser.add_argument(
        "--text",
        type=words.names,
        default=[],
        metavar="A,B",
        help="columns to read as text (TF-IDF)",
    )
    parser.add_argument(
        "--learner",
        type=words.learner_name,
        default="pool",
        metavar="NAME",
        help="what learns (default: pool)",
    )
    parser.add_argument(
        "--seed", type=words.seed, default=0, metavar="N", help="for everything drawn (default: 0)"
    )
    add_jobs(parser)


def run(options: Namespace) -> None:
    """Read the table, fit, on a cluster if there is one, save, and say what was done."""
    with connected(options.scheduler):
        _run(options)


def _run(options: Namespace) -> None:
    from labelsure.model_file import save_model

    with in_one_line():
        schema, batch = read_examples(options.data, options)
    model = _make(options, schema)
    constant = _check_rows(options, batch.Y, schema)
    say(_describe(options, schema, batch.Y))
    with keep_fits(options.model, options.learner) as model.memory:
        with noted_warnings(but=_warnings_of(constant)):
            model.fit(batch.X, batch.Y, label_names=list(schema.label_names))
        with in_one_line():
            save_model(model, options.model, table=schema.to_json())
    say(labels_in_words(model))
    say(f"At 95 % confidence: {model.calibrator_.guarantee.sentence(0.05)}")
    say(f"Saved to {options.model} ({readable_size(options.model)}).")


def _model_file(text: str) -> Path:
    return words.output_file(text, SUFFIX)


def read_examples(path: Path, options: Namespace) -> tuple[Any, Any]:
    """Return the schema and all rows of a table that has labels."""
    from labelsure.datasets import infer_schema, open_table

    labels = asked_labels(options)
    columns = {
        name: getattr(options, name) for name in ("separator", "text", "categorical", "drop")
    }
    with noted_warnings():
        schema = infer_schema(path, labels, **columns)
    if not schema.label_names:
        raise CommandError(
            f"{path}: no labels. Name their columns with --labels a,b,c or --labels-from FILE; if"
            f" one column"
            " holds names of labels, add --separator ';'."
        )
    return schema, open_table(path, schema, labels=True).read()


def _make(options: Namespace, schema: Any) -> Any:
    """Return the unfitted model."""
    from labelsure.cli._learners import make_table_learner
    from labelsure.conformal import CrossConformalClassifier, InductiveConformalClassifier
    from labelsure.measures import make_measure

    learner = make_table_learner(options.learner, schema)
    n_jobs = options.jobs if options.scheduler is None else -1  # with 1 everything would stay here
    given = {
        "measure": make_measure(options.measure),
        "predict_for": metric_of(options.predict_for),
    }
    given |= {"random_state": options.seed, "n_jobs": n_jobs}
    if options.guarantee == words.INDUCTIVE:
        return InductiveConformalClassifier(learner, **given)
    return CrossConformalClassifier(learner, cv=options.folds, guarantee=options.guarantee, **given)


def _check_rows(options: Namespace, Y: Any, schema: Any) -> list[int]:
    """Raise CommandError where there are too few rows, or no label varies; say, and return, which labels do not."""
    n_rows, n_folds = len(Y), 2 if options.guarantee == words.INDUCTIVE else options.folds
    if n_folds < 2 or n_rows < 2 * n_folds:
        raise CommandError(
            f"{options.data}: {n_rows} row{'' if n_rows == 1 else 's'} for {n_folds} folds; there"
            f" must be at least 2"
            " folds with 2 rows in each. Bring more rows, or choose another number with --folds."
        )
    counts = Y.sum(axis=0).tolist()
    never = [name for name, count in zip(schema.label_names, counts, strict=True) if count == 0]
    always = [
        name for name, count in zip(schema.label_names, counts, strict=True) if count == n_rows
    ]
    if len(never) + len(always) == len(counts):
        raise CommandError(
            f"{options.data}: every label is the same in all rows, so there is nothing to learn."
            f" Bring rows where"
            " labels differ."
        )
    there = {"no": never, "every": always}
    said = [
        f"{', '.join(map(repr, names))} in {how_many} row"
        for how_many, names in there.items()
        if names
    ]
    if said:
        labels = counted(len(never) + len(always), "label")
        note(
            f"{options.data}: {labels} without variation: {'; '.join(said)}. Nothing can be"
            f" learned about that, so it"
            " is predicted as it is here."
        )
    return [j for j, count in enumerate(counts) if count in (0, n_rows)]


def _warnings_of(constant: list[int]) -> str | None:
    """Return the pattern of what scikit-learn warns of labels without variation, which was said with their names."""
    return rf"Label (not )?({'|'.join(map(str, constant))}) is present in all" if constant else None


def _describe(options: Namespace, schema: Any, Y: Any) -> str:
    """Return what is going to be learned from what, and how columns are prepared."""
    from labelsure.cli._learners import describe_preparation

    folds = (
        "30 % of the rows calibrate"
        if options.guarantee == words.INDUCTIVE
        else f"{options.folds} folds"
    )
    lines = [
        f"{options.data}: {len(Y)} rows, {counted(len(schema.columns), 'column')} to learn from,"
        f" {counted(len(schema.label_names), 'label')}, {Y.sum() / len(Y):.2f} per row.",
        "Prepared anew in every fold:",
    ]
    for kind, what in describe_preparation(options.learner, schema).items():
        columns = [schema.columns[j].name for j in schema.of_kind(kind)]
        lines += [f"  {few(columns, f'{kind} column')}: {what}"] if columns else []
    lines += [
        f"Learner {options.learner}: {words.LEARNERS[options.learner]}.",
        f"Measure {options.measure}, guarantee {options.guarantee}, {folds}, seed {options.seed}.",
    ]
    return "\n".join(lines)
