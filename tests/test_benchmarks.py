"""The benchmarks measure what they say: their small parts work on small inputs. Nothing here is timed."""

import json
import time
from types import SimpleNamespace

import numpy as np
import pytest
from benchmarks import __main__ as command
from benchmarks import _ten_paths, choice, growth, limit, paths, posterior, risk, rivals, search
from benchmarks._answers import NotMeasuredError, Picture, Table, shown, table_lines
from benchmarks._data import load_if_there
from benchmarks._figures import Figure
from benchmarks._inductive import InductiveTask
from benchmarks._learner_clock import LearnerClock, seconds_of
from benchmarks._logistic import Outputs
from benchmarks._page import write_page
from benchmarks._rivals import all_labelsets, labelsure_table, numpy_table, reversed_bits
from benchmarks._scores import SCORES, engine_of, log_loss_energy
from benchmarks._undecided import Task, predict, spread
from benchmarks._yeast import predict_yeast
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import RandomForestClassifier

from labelsure.labelsets import decode
from labelsure.labelsets.search import _answers

PICTURE = Picture("growth", "More", "labels", "ms", [1, 10, 100], {"best": [2.0, 3.0, 6.0]})


@pytest.fixture
def outputs():
    rng = np.random.default_rng(0)
    calibration = rng.random((40, 10))
    Y = (rng.random((40, 10)) < calibration).astype(np.int8)
    return Outputs(np.arange(40) % 4, calibration, Y, rng.random((4, 3, 10)))


@pytest.fixture
def inductive_task(outputs):
    return InductiveTask(
        outputs.calibration, outputs.Y, outputs.calibration[:, :4], outputs.Y[:, :4], outputs.test[0, :, :4]
    )


@pytest.mark.parametrize("name", command.QUESTIONS)
def test_question_says_what_it_asks(name):
    question = command.QUESTIONS[name]
    assert question.__doc__ and question.TITLE and question.METHOD
    assert callable(question.measure)


def test_question_that_cannot_be_asked_keeps_the_results(tmp_path, monkeypatch, capsys):
    def refuse():
        raise NotMeasuredError("no such data")

    monkeypatch.setattr(command, "HERE", tmp_path)
    monkeypatch.setattr(rivals, "measure", refuse)
    (tmp_path / "results").mkdir()
    kept = tmp_path / "results" / "rivals.json"
    kept.write_text("kept")
    command._measure(["rivals"])
    assert kept.read_text() == "kept"
    assert "no such data" in capsys.readouterr().out


def test_answers_are_kept_and_shown(tmp_path, monkeypatch):
    monkeypatch.setattr(command, "HERE", tmp_path)
    table = Table("By set", ["set", "ns"], [["yeast", 1234.5]])
    monkeypatch.setattr(limit, "measure", lambda: [Figure("time", 1.5, "ms", at_most=1), table, PICTURE])
    (tmp_path / "results").mkdir()
    command._measure(["limit"])
    kept = json.loads((tmp_path / "results" / "limit.json").read_text())
    page = write_page([kept])
    assert "| time | 1.50 ms |" in page
    assert "| yeast | 1 234 |" in page
    assert "(figures/growth.png)" in page
    assert Picture(**kept["pictures"][0]) == PICTURE


def test_numbers_are_shown_to_three_digits():
    assert [shown(cell) for cell in ("a", 7, 0.123, 45.67, 98765.4)] == ["a", "7", "0.12", "45.7", "98 765"]


def test_table_columns_of_numbers_are_flush_right():
    assert table_lines(Table("", ["set", "n"], [["a", 1]])) == ["| set | n |", "| --- | ---: |", "| a | 1 |"]


def test_pictures_are_drawn(tmp_path):
    pytest.importorskip("matplotlib", reason="pictures need the extra docs")
    from benchmarks._pictures import draw

    (path,) = draw([PICTURE], tmp_path)
    assert path.read_bytes().startswith(b"\x89PNG")


def test_last_step_is_from_a_tenth_to_the_end():
    (figure,) = growth.last_steps(PICTURE)
    assert figure.value == 2.0
    assert "10 to 100 labels: best" in figure.what


@pytest.mark.parametrize("score", SCORES)
def test_effort_counts_the_regions(outputs, score):
    engine = engine_of(outputs, score)
    kernel = _answers.search
    effort = search.effort_of(engine, 0.2, budget=10_000, repeats=1)
    table = engine.p_value_table()
    assert effort.sizes == (table > 0.2).sum(axis=1).tolist()
    assert effort.finished == 1
    assert effort.nodes > 0 < sum(effort.sizes)
    assert _answers.search is kernel


def test_log_loss_is_minus_the_log_of_the_probabilities():
    energy = log_loss_energy(np.array([[0.25, 0.0]]))
    scores = energy.scores(np.array([[1, 0], [0, 1]]), objects=np.array([0, 0]))
    off = log_loss_energy(np.array([[0.5, 0.5]])).scores(np.array([[0, 0]]))[0]  # 2 log 2
    assert scores / off * 2 * np.log(2) == pytest.approx([np.log(4), -np.log(0.75) - np.log(1e-12)], rel=1e-9)


def test_posterior_and_former_default_are_timed_by_labelset(outputs):
    names = list(posterior.measures())
    assert list(posterior.table_nanoseconds(outputs, repeats=1)) == names
    assert list(posterior.search_nanoseconds(outputs, budget=10_000, repeats=1)) == names
    engine = posterior.engine_of_measure(outputs, posterior.measures()["posterior"])
    effort = search.effort_of(engine, posterior.LEVEL, budget=10_000, repeats=1)
    assert effort.sizes == (engine.p_value_table() > posterior.LEVEL).sum(axis=1).tolist()


def test_choice_and_table_count_the_same(outputs):
    assert choice.speed_of_choice(engine_of(outputs, "power"), 0.2, repeats=1) > 0


def test_undecided_labels_decide_alone():
    few, many = (predict(Task(n, n_calibration=200, n_objects=3)) for n in (12, 200))
    for answer in growth.answers():
        question = growth.answers()[answer]
        assert np.sum(question(few)) == np.sum(question(many))


def test_values_are_spread_over_columns():
    values, columns = np.array([[0.1, 0.2], [0.3, 0.4]]), np.array([1, 3])
    dense = spread(values, columns, 5)
    assert dense.tolist() == [[0, 0.1, 0, 0.2, 0], [0, 0.3, 0, 0.4, 0]]


def test_loops_add_and_look_up():
    loops = limit.loops(32, 3)
    positions, buckets, _ = loops["look-ups alone"].args
    assert loops["look-ups alone"]() == 3 * buckets[positions].sum()
    row = loops["add and look up"].args[4]
    loops["add and look up"]()
    assert row.tolist() == (3 * buckets[positions]).tolist()


def test_table_without_shared_buckets_differs_only_there(outputs):
    engine = engine_of(outputs, "power")
    counts, right = (
        one.table.backend.count(np.arange(3), strict=False) for one in (limit.without_shared_buckets(engine), engine)
    )
    assert (counts <= right).all()
    assert (counts == right).mean() > 0.8


def test_data_set_that_is_not_at_hand_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("LABELSURE_DATA", str(tmp_path))
    with pytest.raises(NotMeasuredError, match="no-such-set"):
        load_if_there("no-such-set")


def test_rivals_that_are_missing_are_named(monkeypatch):
    monkeypatch.setattr(rivals, "find_spec", lambda name: None if name == "crepes" else object())
    with pytest.raises(NotMeasuredError, match="crepes not installed"):
        rivals.check_installed()


def test_numpy_and_labelsure_agree(inductive_task):
    assert np.array_equal(labelsure_table(inductive_task), numpy_table(inductive_task, 2))
    assert all_labelsets(inductive_task).shape == (16, 4)


def test_disagreement_knows_the_other_order_of_labelsets():
    assert decode(reversed_bits(3), 3).tolist() == decode(np.arange(8), 3)[:, ::-1].tolist()
    ours = np.linspace(0, 1, 16).reshape(2, 8)
    theirs = ours[:, reversed_bits(3)].astype(np.float32)
    assert rivals.disagreement(ours, theirs)[0] == 0
    theirs[0, 0] += 0.5
    assert rivals.disagreement(ours, theirs) == pytest.approx((1 / 16, 0.5))


def test_risk_is_compared_with_mapie(outputs):
    pytest.importorskip("mapie", reason="compares with MAPIE, pip install mapie")
    labelled = outputs.Y.any(axis=1)
    figures = risk.compare("toy", outputs.calibration[labelled], outputs.Y[labelled])
    assert [figure.what for figure in figures if figure.unit == "x"] == [
        f"toy, {what}: against MAPIE" for what in ("recall, crc", "recall, rcps", "precision, ltt")
    ]
    with pytest.raises(RuntimeError, match="disagree"):
        risk.check_agreement(0.5, 0.42)
    risk.check_agreement(0.505, 0.5)


@pytest.mark.parametrize("package", ["crepes", "mulaconf"])
def test_rivals_agree_with_labelsure(package, inductive_task):
    pytest.importorskip(package, reason="needs the extra rivals")
    from benchmarks._rivals import CrepesTable, MulaconfTable

    ours = labelsure_table(inductive_task)
    if package == "crepes":
        assert np.array_equal(CrepesTable(inductive_task)(), ours)
    else:
        task = inductive_task._replace(
            training_outputs=inductive_task.calibration_outputs, training_labels=inductive_task.calibration_labels
        )
        assert rivals.disagreement(ours, MulaconfTable(task)())[0] < 0.02


@pytest.mark.parametrize("n_labels", [3, 10])
def test_paths_measure_every_column(monkeypatch, n_labels):
    monkeypatch.setattr(paths, "REPEATS", 1)
    row = paths.row_of(n_labels, n_examples=60, n_objects=4)
    assert len(row) == len(paths.COLUMNS)
    assert row[0] == n_labels
    assert 1 <= row[1] <= 2**n_labels
    assert all(value >= 0 for value in row)


@pytest.fixture
def small_set():
    X, Y = make_multilabel_classification(60, n_features=5, n_classes=3, random_state=0)
    return SimpleNamespace(X_train=X[:50], Y_train=Y[:50].astype(np.int8), X_test=X[50:], Y_test=Y[50:].astype(np.int8))


def test_paths_of_a_data_set_have_the_learners_time_beside_ours(small_set, monkeypatch):
    forest = RandomForestClassifier(2, random_state=0)
    monkeypatch.setattr(_ten_paths, "learners", lambda _: {"few trees": forest})
    said = []
    fits, asked, rows = _ten_paths.measure_set("made up", small_set, repeats=1, say=said.append)
    for table in (fits, asked, rows):
        assert all(len(row) == len(table.columns) for row in table.rows)
    assert [row[3] for row in fits.rows] == ["few trees", "few trees, auto"]
    for _, n_examples, n_labels, _, own, everything, _ in fits.rows:
        assert (n_examples, n_labels) == (50, 3)
        assert 0 < own < everything
    (row,) = rows.rows
    assert 0 < row[1] < row[2]
    assert len(said) == 4


def test_learners_of_data_sets_boost_for_few_labels_only():
    assert "pool" in _ten_paths.learners(_ten_paths.POOL_LABELS)
    assert "pool" not in _ten_paths.learners(_ten_paths.POOL_LABELS + 1)


def test_learner_clock_counts_calls_within_calls_once():
    clock = LearnerClock()
    inner = clock.watched(lambda: sum(range(10**5)))
    outer = clock.watched(lambda: (inner(), inner()))
    start = time.process_time()
    outer()
    assert 0 < clock.seconds <= time.process_time() - start


def test_learner_clock_watches_the_members_of_a_pool(small_set):
    pool = _ten_paths.learners(3)["pool"]
    fit = type(pool.estimators[0][1]).fit
    own, everything = seconds_of(pool, lambda: pool.fit(small_set.X_train, small_set.Y_train))
    assert everything / 2 < own <= everything
    assert type(pool.estimators[0][1]).fit is fit


def test_parts_of_a_question_are_kept_and_shown_one_by_one(tmp_path, monkeypatch):
    def measure(part):
        if part == "birds":
            raise NotMeasuredError("no birds")
        return [Table("By set", ["set", "ns"], [[part, 1.0]])]

    monkeypatch.setattr(command, "HERE", tmp_path)
    monkeypatch.setattr(paths, "measure", measure)
    (tmp_path / "results").mkdir()
    command._measure(["paths"], ["yeast"])
    command._measure(["paths"], ["birds", "scene"])
    assert sorted(path.name for path in (tmp_path / "results" / "paths").iterdir()) == ["scene.json", "yeast.json"]
    page = command.page()
    assert page.index("| scene | 1.00 |") < page.index("| yeast | 1.00 |")
    assert page.count("By set") == 1
    kept = json.loads((tmp_path / "results" / "paths" / "yeast.json").read_text())
    joined = command.join([kept, kept | {"date": "2020-01-01", "machine": kept["machine"] | {"cores": "many"}}])
    assert joined["date"] == f"{kept['date']} and 2020-01-01"
    assert joined["machine"]["cores"] == f"{kept['machine']['cores']} and many"
    assert joined["machine"]["python"] == kept["machine"]["python"]


def test_unknown_parts_are_refused(monkeypatch, capsys):
    for words, there in (
        (["paths", "--only", "nowhere"], "shapes, emotions"),
        (["questions", "--only", "shapes"], "emotions, scene"),
        (["table", "--only", "yeast"], "paths, questions"),
        (["--only", "yeast"], "paths, questions"),
    ):
        monkeypatch.setattr("sys.argv", ["benchmarks", *words])
        with pytest.raises(SystemExit):
            command.main()
        assert there in capsys.readouterr().err


def test_predictions_of_yeast_work_with_as_many_threads_as_they_are_compared_for():
    """Set after ``fit``, the number would wait for the next one."""
    assert [predict_yeast(0.0, n_jobs=n_jobs)._engine.n_jobs for n_jobs in (1, 2)] == [1, 2]
