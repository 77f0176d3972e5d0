"""Mulan's XML: labels at any depth, namespace and encoding; hostile files are clear errors."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelsure.datasets import DatasetError, read_hierarchy


@pytest.fixture(scope="module")
def read_xml(tmp_path_factory):
    path = tmp_path_factory.mktemp("xml") / "toy.xml"

    def read(content: str | bytes) -> dict[str, str]:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return read_hierarchy(path)

    return read


NESTED = (
    '<label name="a"><note><label name="b"/></note><label name="c &amp; d"></label></label>'
    '<label name="e"/>'
)


@pytest.mark.parametrize(
    "content",
    [
        f"<labels>{NESTED}</labels>",
        f'<labels xmlns="http://mulan.sourceforge.net/labels">{NESTED}</labels>',
        f'<?xml version="1.0" encoding="utf-8"?><!-- a comment --><labels'
        f' xmlns="other">{NESTED}</labels>',
        '<m:labels xmlns:m="u">'
        + NESTED.replace("<label", "<m:label").replace("</label", "</m:label")
        + "</m:labels>",
    ],
)
def test_hierarchy_is_read_with_any_namespace_and_nesting(read_xml, content):
    assert read_xml(content) == {"b": "a", "c & d": "a"}


def test_label_names_are_read_in_other_encodings(read_xml):
    content = (
        '<?xml version="1.0" encoding="latin-1"?>'
        '<labels><label name="Vogel"><label name="Möwe"/></label></labels>'
    )
    assert read_xml(content.encode("latin-1")) == {"Möwe": "Vogel"}
    assert read_xml(content.replace("latin-1", "utf-16").encode("utf-16")) == {"Möwe": "Vogel"}
    assert read_xml(content.replace("latin-1", "utf-8").encode("utf-8-sig")) == {"Möwe": "Vogel"}


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "not well-formed XML"),
        ('<labels>\n<label name="a"/>\n', "not well-formed XML .*line 3.*truncated"),
        ('<labels>\n<label name="a">\n</labels>', "not well-formed XML .*line 3"),
        ("<labels>\n</labels>", "no <label name"),
        ("<labels>\n<label/></labels>", "a unique name, got None"),
        (
            '<labels>\n<label name="a"><label name="a"/></label></labels>',
            "a unique name, got 'a'",
        ),
        ('<?xml version="1.0" encoding="klingon"?><labels/>', "not well-formed XML"),
        ('<x:labels><label name="a"/></x:labels>', "not well-formed XML .*prefix"),
    ],
)
def test_bad_xml_is_named_with_its_file(read_xml, content, problem):
    with pytest.raises(DatasetError, match=rf"toy\.xml: .*{problem}"):
        read_xml(content)


def test_xml_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(DatasetError, match="nowhere"):
        read_hierarchy(tmp_path / "nowhere.xml")


def test_xml_bomb_is_an_error(read_xml):
    entities = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 20))
    with pytest.raises(DatasetError, match="not well-formed XML"):
        read_xml(
            f'<!DOCTYPE labels [<!ENTITY e0 "ha">{entities}]><labels><label name="&e19;"/></labels>'
        )


def test_deeply_nested_xml_is_read(read_xml):
    depth = 20_000
    content = "".join(f'<label name="{i}">' for i in range(depth)) + "</label>" * depth
    assert len(read_xml(content)) == depth - 1


PIECES = [
    "<labels>", "</labels>", '<label name="a"/>', '<label name="b">', "</label>", "<label/>",
    "&amp;", "&x;", "\0",
    "<!--", "-->", "<![CDATA[", "]]>", "<?xml version='1.0' encoding='", "utf-8", "'?>",
    "<!DOCTYPE x [",
]  # fmt: skip


def join(pieces):
    return "".join(pieces).encode("utf-8", "surrogatepass")


@given(st.binary() | st.lists(st.sampled_from(PIECES) | st.text(max_size=4)).map(join))
def test_any_bytes_as_xml_give_names_or_a_dataset_error(read_xml, content):
    try:
        read_xml(content)
    except DatasetError as error:
        assert "toy.xml: " in str(error)
