"""``labelsure fit``: from a table to a model file."""

import shutil
from argparse import Namespace
from pathlib import Path
from typing import Any

from labelsure._errors import CommandError
from labelsure.cli import _arguments as arguments
from labelsure.cli import _common as common


def add_parser(commands: Any) -> None:
    """Add the command to ``commands``, argparse's subparsers."""
    parser = commands.add_parser(
        "fit",
        help="learn from a table of your own, and save the model",
        description="Learn labels from a CSV, Parquet, ARFF or libsvm file, calibrate, and save the"
        " model. Columns are numbers or categories, as they look; gaps are fine. What is made of"
        " them is printed, and kept with the model. An interrupted run goes on when the same"
        " command is given again.",
        epilog="Learners: "
        + "; ".join(f"{name}: {what}" for name, what in arguments.LEARNERS.items())
        + ". Measures: see docs/measures.md.",
    )
    arguments.add_learning(parser)
    option = arguments.option
    model_file = arguments.file_with(".labelsure")
    about = "where to save it (.labelsure)"
    option(parser, "--model", "FILE", about, model_file, dest="output", required=True)
    about, name = "(default: posterior)", arguments.measure_name
    option(parser, "--measure", "NAME", about, name, default=arguments.MEASURE)
    about, name = "(default: cross)", arguments.guarantee_name
    option(parser, "--guarantee", "NAME", about, name, default="cross")
    option(parser, "--folds", "K", "folds (default: 10)", arguments.count, default=10)
    arguments.add_predict_for(parser, "auto")
    arguments.add_scheduler(parser)
    parser.set_defaults(run=run)


def run(options: Namespace) -> None:
    """Read the table, fit, on a cluster if there is one, save, and say what was done."""
    with common.connected(options.scheduler):
        _fit_and_save(options)


def _fit_and_save(options: Namespace) -> None:
    from labelsure.conformal._memory import KeptResults
    from labelsure.model_file import save_model

    with common.in_one_line():
        schema, rows = read_examples(options.data, options)
    model = _make_model(options, schema)
    constant = _check_rows(options, rows.Y, schema)
    common.say(_describe(options, schema, rows.Y))
    with common.kept_beside(options.output, "finished fit", _count_fits) as folder:
        model.memory = KeptResults(folder, tell=_tell)
        try:
            with common.noted_warnings(but=_warnings_of(constant)):
                model.fit(rows.X, rows.Y, label_names=list(schema.label_names))
        except ValueError as error:  # which would come again
            shutil.rmtree(folder, ignore_errors=True)
            reason = common.one_line(error)
            raise CommandError(f"{options.learner} could not be fitted: {reason}") from error
        with common.in_one_line():
            save_model(model, options.output, table=schema.to_json())
    common.say(common.labels_in_words(model))
    common.say(f"At 95 % confidence: {model.calibrator_.guarantee.sentence(0.05)}")
    common.say(f"Saved to {options.output} ({common.readable_size(options.output)}).")


def _count_fits(folder: Path) -> int:
    return sum(1 for _ in folder.rglob("output.pkl"))


def _tell(n_kept: int, n_fits: int) -> None:
    common.note(f"{n_kept} of {n_fits} fits were finished already, by a run that was interrupted.")


def read_examples(path: Path, options: Namespace) -> tuple[Any, Any]:
    """Return the schema and all rows of a table that has labels."""
    from labelsure.datasets import infer_schema, open_table

    chosen = ("separator", "text", "categorical", "drop")
    with common.noted_warnings():
        columns = {name: getattr(options, name) for name in chosen}
        schema = infer_schema(path, _label_columns(options), **columns)
    if not schema.label_names:
        raise CommandError(
            f"{path}: no labels. Name their columns with --labels a,b,c or --labels-from FILE; if"
            " one column holds names of labels, add --separator ';'."
        )
    return schema, open_table(path, schema, labels=True).read()


def _label_columns(options: Namespace) -> list[str] | None:
    """Return the columns of --labels or --labels-from; None if the file is to say."""
    file: Path | None = options.labels_from
    if file is None:
        labels: list[str] | None = options.labels
        return labels
    expected = "It must name one label on each line."
    try:
        lines = file.expanduser().read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise CommandError(f"{file} cannot be read: {error}. {expected}") from None
    if not (names := [line.strip() for line in lines if line.strip()]):
        raise CommandError(f"{file} names no labels. {expected}")
    return names


def _make_model(options: Namespace, schema: Any) -> Any:
    """Return the unfitted model."""
    from labelsure.cli._learners import make_table_learner
    from labelsure.conformal import CrossConformalClassifier, InductiveConformalClassifier
    from labelsure.measures import make_measure

    learner = make_table_learner(options.learner, schema)
    given = {
        "measure": make_measure(options.measure),
        "predict_for": options.predict_for.replace("-", " "),
        "random_state": options.seed,
        # with 1 everything would stay here
        "n_jobs": options.jobs if options.scheduler is None else -1,
    }
    if options.guarantee == arguments.INDUCTIVE:
        return InductiveConformalClassifier(learner, **given)
    return CrossConformalClassifier(learner, cv=options.folds, guarantee=options.guarantee, **given)


def check_folds(options: Namespace, n_rows: int, n_folds: int) -> None:
    """Raise CommandError if there are too few rows for the folds."""
    if n_folds < 2 or n_rows < 2 * n_folds:
        raise CommandError(
            f"{options.data}: {common.counted(n_rows, 'row')} for {n_folds} folds;"
            " there must be at least"
            " 2 folds with 2 rows in each. Bring more rows, or choose another number with --folds."
        )


def _check_rows(options: Namespace, Y: Any, schema: Any) -> list[int]:
    """Check that labels vary; say, and return, which do not."""
    n_rows = len(Y)
    check_folds(options, n_rows, 2 if options.guarantee == arguments.INDUCTIVE else options.folds)
    counts = Y.sum(axis=0).tolist()
    constant = [j for j, count in enumerate(counts) if count in (0, n_rows)]
    if len(constant) == len(counts):
        raise CommandError(
            f"{options.data}: every label is the same in all rows, so there is nothing to learn."
            " Bring rows where labels differ."
        )
    said = []
    for in_rows, count in (("no row", 0), ("every row", n_rows)):
        if names := [schema.label_names[j] for j in constant if counts[j] == count]:
            said.append(f"{', '.join(map(repr, names))} in {in_rows}")
    if said:
        common.note(
            f"{options.data}: {common.counted(len(constant), 'label')} without variation:"
            f" {'; '.join(said)}. Nothing can be learned about that, so it is predicted as it is"
            " here."
        )
    return constant


def _warnings_of(constant: list[int]) -> str | None:
    """Return the pattern of scikit-learn's warnings about constant labels; we report the names."""
    return rf"Label (not )?({'|'.join(map(str, constant))}) is present in all" if constant else None


def _describe(options: Namespace, schema: Any, Y: Any) -> str:
    """Return what is going to be learned from what, and how columns are prepared."""
    from labelsure.cli._learners import describe_preparation

    inductive = options.guarantee == arguments.INDUCTIVE
    folds = "30 % of the rows calibrate" if inductive else f"{options.folds} folds"
    lines = [
        f"{options.data}: {len(Y)} rows,"
        f" {common.counted(len(schema.columns), 'column')} to learn from,"
        f" {common.counted(len(schema.label_names), 'label')}, {Y.sum() / len(Y):.2f} per row.",
        "Prepared anew in every fold:",
    ]
    for kind, what in describe_preparation(options.learner, schema).items():
        columns = [schema.columns[j].name for j in schema.of_kind(kind)]
        lines += [f"  {common.few(columns, f'{kind} column')}: {what}"] if columns else []
    lines += [
        f"Learner {options.learner}: {arguments.LEARNERS[options.learner]}.",
        f"Measure {options.measure}, guarantee {options.guarantee}, {folds}, seed {options.seed}.",
    ]
    return "\n".join(lines)
