import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelsure.datasets import DatasetError, read_hierarchy
from labelsure.datasets._mulan import read_label_names


@pytest.fixture(scope="module")
def read_xml(tmp_path_factory):
    path = tmp_path_factory.mktemp("xml") / "toy.xml"

    def read(content: str | bytes) -> dict[str, str]:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return read_label_names(path)

    return read


@pytest.mark.parametrize(
    "opening",
    [
        "<labels>",
        '<labels xmlns="http://mulan.sourceforge.net/labels">',
        '<?xml version="1.0" encoding="utf-8"?><labels xmlns="other">',
        "<!-- a comment --><labels>",
    ],
)
def test_label_names_are_read_with_any_namespace_and_nesting(read_xml, opening):
    names = read_xml(f'{opening}\n<label name="a"><label name="b">\n<label name="c &amp; d"/></label></label></labels>')
    assert list(names) == ["a", "b", "c & d"]
    assert [place.rpartition("line ")[2] for place in names.values()] == ["2", "2", "3"]


def test_label_names_are_read_with_a_namespace_prefix(read_xml):
    assert list(read_xml('<m:labels xmlns:m="u"><m:label name="a"/></m:labels>')) == ["a"]


def test_label_names_are_read_in_other_encodings(read_xml):
    content = '<?xml version="1.0" encoding="latin-1"?><labels><label name="Möwe"/></labels>'
    assert list(read_xml(content.encode("latin-1"))) == ["Möwe"]
    assert list(read_xml(content.replace("latin-1", "utf-16").encode("utf-16"))) == ["Möwe"]
    assert list(read_xml('<labels><label name="Möwe"/></labels>'.encode("utf-8-sig"))) == ["Möwe"]


@pytest.mark.parametrize(
    ("content", "line", "problem"),
    [
        ("", 1, "not well-formed XML"),
        ('<labels>\n<label name="a"/>\n', 3, "not well-formed XML .*truncated"),
        ('<labels>\n<label name="a">\n</labels>', 3, "not well-formed XML"),
        ("<labels>\n</labels>", 1, "no <label name"),
        ("<html><body/></html>", 1, "no <label name"),
        ("<labels>\n<label/></labels>", 2, "has no name"),
        ('<labels>\n<label name="a"/>\n<label name="a"/></labels>', 3, "'a' is named a second time"),
        ('<?xml version="1.0" encoding="klingon"?><labels/>', 1, "not well-formed XML"),
        ('<x:labels><label name="a"/></x:labels>', 1, "not well-formed XML .*prefix"),
    ],
)
def test_bad_xml_is_named_with_file_and_line(read_xml, content, line, problem):
    with pytest.raises(DatasetError, match=rf"toy\.xml, line {line}: .*{problem}"):
        read_xml(content)


def test_xml_bomb_is_an_error(read_xml):
    entities = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 20))
    with pytest.raises(DatasetError, match="not well-formed XML"):
        read_xml(f'<!DOCTYPE labels [<!ENTITY e0 "ha">{entities}]><labels><label name="&e19;"/></labels>')


def test_deeply_nested_xml_is_read(read_xml):
    depth = 20_000
    content = "".join(f'<label name="{i}">' for i in range(depth)) + "</label>" * depth
    assert len(read_xml(content)) == depth


@pytest.mark.parametrize(
    ("labels", "problem"),
    [([], "at least one label"), (["a", "a"], "'a' twice"), (["a", 3], "got 3 in the list"), ([None], "got None")],
)
def test_bad_list_of_labels_is_refused(labels, problem):
    with pytest.raises(DatasetError, match=problem):
        read_label_names(labels)


PIECES = [
    "<labels>",
    "</labels>",
    '<label name="a"/>',
    '<label name="b">',
    "</label>",
    "<label/>",
    "&amp;",
    "&x;",
    "\0",
]
PIECES += ["<!--", "-->", "<![CDATA[", "]]>", "<?xml version='1.0' encoding='", "utf-8", "'?>", "<!DOCTYPE x ["]


@given(
    st.binary()
    | st.lists(st.sampled_from(PIECES) | st.text(max_size=4)).map(
        lambda pieces: "".join(pieces).encode("utf-8", "surrogatepass")
    )
)
def test_any_bytes_as_xml_give_names_or_a_dataset_error(read_xml, content):
    try:
        names = read_xml(content)
    except DatasetError as error:
        assert "toy.xml, line " in str(error)
    else:
        assert names


def test_hierarchy_is_read_from_nested_labels(tmp_path):
    path = tmp_path / "tree.xml"
    nested = '<label name="b"><note><label name="c"/></note><label name="d"></label></label>'
    path.write_text(f'<m:labels xmlns:m="u"><m:label name="a">{nested}</m:label><m:label name="e"/></m:labels>')
    assert read_hierarchy(path) == {"b": "a", "c": "b", "d": "b"}
    path.write_text('<labels><label name="a"/><label name="b"/></labels>')
    assert read_hierarchy(str(path)) == {}
    path.write_text('<labels><label name="a"><label name="a"/></label></labels>')
    with pytest.raises(DatasetError, match="named a second time"):
        read_hierarchy(path)
    with pytest.raises(DatasetError, match="nowhere"):
        read_hierarchy(tmp_path / "nowhere.xml")
