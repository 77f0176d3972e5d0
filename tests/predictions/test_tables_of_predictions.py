"""Predictions, regions and label-wise answers as tables of pandas and polars, and in notebooks."""

from html.parser import HTMLParser

import numpy as np
import pytest

from labelsure import calibrate_labels, calibrate_outputs

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")

NAMES = ["sea", "city", "night"]
INDEX = pandas.Index(["x", "y", "z"], name="photo")


def examples():
    rng = np.random.default_rng(0)
    outputs = rng.random((43, 3))
    return outputs, (rng.random((43, 3)) < outputs).astype(int)


def new_objects(kind):
    new = examples()[0][40:]
    return {
        "array": new,
        "pandas": pandas.DataFrame(new, columns=NAMES, index=INDEX),
        "polars": polars.DataFrame(new, schema=NAMES),
    }[kind]


def predict(kind="array", names=NAMES, **options):
    outputs, Y = examples()
    return calibrate_outputs(outputs[:40], Y[:40], label_names=names, **options).predict_labelsets(
        new_objects(kind)
    )


def predict_labels(kind="array", **options):
    outputs, Y = examples()
    return calibrate_labels(outputs[:40], Y[:40], label_names=NAMES, **options).predict_labels(
        new_objects(kind)
    )


def all_tables(kind, layout, library=None):
    joint, labels = predict(kind), predict_labels(kind)
    tables = [joint, joint.region(0.2), joint.top(2), labels, labels.region(0.2)]
    return [table.to_frame(layout=layout, library=library) for table in tables]


@pytest.mark.parametrize("layout", ["wide", "long"])
@pytest.mark.parametrize(
    ("kind", "library"), [("array", "pandas"), ("pandas", "pandas"), ("polars", "polars")]
)
def test_tables_are_of_the_library_that_objects_came_in(kind, library, layout):
    for frame in all_tables(kind, layout):
        assert type(frame).__module__.startswith(library)


@pytest.mark.parametrize("layout", ["wide", "long"])
def test_tables_of_both_libraries_say_the_same(layout):
    of_pandas, of_polars = (
        all_tables("array", layout, "pandas"),
        all_tables("array", layout, "polars"),
    )
    for one, other in zip(of_pandas, of_polars, strict=True):
        columns = {name: one[name].tolist() for name in one.columns}
        assert {name: other[name].to_list() for name in columns} == columns


def test_long_tables_say_what_wide_ones_and_arrays_say():
    pred = predict("pandas")
    frame = pred.to_frame(layout="long")
    assert frame.index.names == ["photo", "label"]
    assert frame["value"].unstack()[NAMES].to_numpy().tolist() == pred.labelsets.tolist()
    np.testing.assert_array_equal(
        frame[["p_off", "p_on"]].to_numpy().reshape(3, 3, 2), pred.label_p_values
    )
    region = pred.region(0.3)
    decisions = region.to_frame(layout="long")["decision"].unstack()[NAMES]
    assert decisions.equals(region.to_frame()[NAMES])
    labels = predict_labels("pandas")
    assert labels.to_frame(layout="wide").to_numpy().tolist() == labels.labels.tolist()
    of_labels = labels.region(0.3)
    wide = of_labels.to_frame(layout="wide")
    assert wide[NAMES].equals(of_labels.to_frame()["decision"].unstack()[NAMES])
    assert wide["size"].tolist() == of_labels.sizes.tolist()


def test_wide_tables_of_ranked_labelsets_have_a_row_per_object():
    frame = predict("pandas", empty_labelset="exclude").top(8).to_frame(layout="wide")
    assert frame.columns.tolist()[:4] == ["labels_1", "p_value_1", "labels_2", "p_value_2"]
    assert frame["p_value_1"].tolist() == predict().credibility.tolist()
    assert frame["labels_8"].isna().all()
    assert frame["p_value_8"].isna().all()
    assert frame["labels_7"].notna().all()


@pytest.mark.parametrize("layout", ["wide", "long"])
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_labels_called_like_our_columns_take_a_prefix(layout, library):
    pred = predict(names=["confidence", "size", "object"])
    if layout == "wide":
        for table, name in ((pred, "confidence"), (pred.region(0.2), "size")):
            with pytest.raises(ValueError, match=f"column '{name}' of its own"):
                table.to_frame(library=library)
    for table in (pred, pred.region(0.2)):
        frame = table.to_frame(layout=layout, prefix="is_", library=library)
        assert len(set(frame.columns)) == len(frame.columns)
        if layout == "wide":
            assert list(frame.columns)[:3] == ["is_confidence", "is_size", "is_object"]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_summaries_as_tables_say_what_they_say_in_words(library):
    summaries = predict("pandas").summary(0.3)
    frame = summaries.to_frame(library=library)
    assert [*frame.columns][-8:] == [
        *(
            "prediction",
            "confidence",
            "credibility",
            "sure",
            "possible",
            "ruled_out",
            "size",
            "note",
        )
    ]
    assert list(frame["prediction"]) == [", ".join(one.labels) for one in summaries]
    assert list(frame["ruled_out"]) == [", ".join(one.ruled_out) for one in summaries]
    assert list(frame["size"]) == [int(one.n_labelsets) for one in summaries]
    assert list(frame["photo"] if library == "polars" else frame.index) == ["x", "y", "z"]
    assert len(predict()[:0].summary(0.3).to_frame(library=library)) == 0
    assert type(predict("polars").summary(0.3)[1:].to_frame()).__module__.startswith("polars")


class Reader(HTMLParser):
    """Reads text, and refuses tags that are not closed."""

    def __init__(self):
        super().__init__()
        self.open, self.text, self.tags = [], [], set()

    def handle_starttag(self, tag, attrs):  # noqa: ARG002
        self.open.append(tag)
        self.tags.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1] != "style":
            self.text.append(data)


def read(shown):
    reader = Reader()
    reader.feed(shown)
    assert reader.open == []
    assert "script" not in reader.tags
    return "|".join(reader.text)


def test_notebooks_show_labels_by_name_and_what_is_promised():
    pred = predict("pandas")
    region = pred.region(0.2)
    assert "|y|" in read(pred._repr_html_())
    text = read(region._repr_html_())
    assert region.statement in text
    assert "80 % confidence" in text
    assert f"|{', '.join(region.possible[0])}|" in text
    summary = pred.summary(0.2)
    assert f"|{summary[2].confidence:.3g}|" in read(summary._repr_html_())
    assert f"|{pred.top(2).p_values[0, 1]:.3g}" in read(pred.top(2)._repr_html_())
    labels = predict_labels("pandas")
    assert "|x|" in read(labels._repr_html_())
    assert labels.region(0.2).statement in read(labels.region(0.2)._repr_html_())


def test_notebooks_show_few_objects_and_compute_no_others():
    outputs, Y = examples()
    pred = calibrate_outputs(outputs[:20], Y[:20]).predict_labelsets(np.tile(outputs, (3, 1)))
    region = pred.region(0.2)
    assert "... and 119 more." in read(pred._repr_html_())
    assert "... and 119 more." in read(region._repr_html_())
    assert "_best" not in vars(pred)
    assert "size_estimates" not in vars(region)


def test_notebooks_escape_names():
    pred = predict(names=["<img src=x>", "a&b", '"'])
    for shown in (pred, pred.region(0.2), pred.summary(0.2), pred.top(2)):
        assert "<img" not in shown._repr_html_()
    labels = calibrate_labels(
        *[part[:40] for part in examples()], label_names=["<img src=x>", "a&b", '"']
    )
    assert "<img" not in labels.predict_labels(new_objects("array")).region(0.2)._repr_html_()
