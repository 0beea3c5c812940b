from __future__ import annotations

from pathlib import Path

import pytest

from nodewise.graph.io.graphml_parser import parse, refuse_doctype
from nodewise.ground.errors import GraphError

LAUGHS = "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 10))
BOMB = f'<!DOCTYPE bomb [<!ENTITY a0 "ha">{LAUGHS}]><graphml><graph><node id="&a9;"/></graph></graphml>'


@pytest.mark.parametrize(
    "text",
    [
        BOMB,
        '<?xml version="1.0"?>\n' + BOMB,
        '<?xml version="1.0" encoding="UTF-8"?><!-- <graphml> -->\n<?pi <graphml ?>' + BOMB,
        "\ufeff" + BOMB,
        '<!DOCTYPE graphml SYSTEM "file:///etc/passwd"><graphml/>',
        "<!doctype graphml><graphml/>",
        '<!ENTITY x "y"><graphml/>',
    ],
)
def test_a_doctype_is_refused_before_parsing(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.graphml").write_text(text, encoding="utf-8")
    with pytest.raises(GraphError, match="was not read: it has a DOCTYPE.*remove that part"):
        refuse_doctype(tmp_path / "a.graphml", text.encode()[:65536])
    with pytest.raises(GraphError, match="was not read: it has a DOCTYPE"):
        parse(tmp_path / "a.graphml")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_a_doctype_cannot_hide_in_wide_characters(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "a.graphml").write_bytes(BOMB.encode(encoding))
    with pytest.raises(GraphError, match="UTF-16 or is no text: save it as UTF-8"):
        parse(tmp_path / "a.graphml")


def test_a_doctype_cannot_hide_in_a_strange_encoding(tmp_path: Path) -> None:
    (tmp_path / "a.graphml").write_bytes(b'<?xml version="1.0" encoding="cp037"?>' + BOMB.encode("cp037"))
    with pytest.raises(GraphError, match="encoded as 'cp037': save it as UTF-8"):
        parse(tmp_path / "a.graphml")


def test_a_doctype_cannot_hide_behind_a_long_comment(tmp_path: Path) -> None:
    (tmp_path / "a.graphml").write_text("<!--" + "x" * 70000 + "-->" + BOMB)
    with pytest.raises(GraphError, match="comment that does not end within 64 KiB"):
        parse(tmp_path / "a.graphml")
    (tmp_path / "a.graphml").write_text("<!-- x -->" * 7000 + BOMB)
    with pytest.raises(GraphError):
        parse(tmp_path / "a.graphml")


def test_the_word_in_a_text_is_harmless(tmp_path: Path) -> None:
    node = '<node id="a"><data key="d"><![CDATA[<!DOCTYPE html>]]> &lt;!ENTITY</data></node>'
    text = f'<graphml><key id="d" for="node" attr.name="t"/><graph>{node}</graph></graphml>'
    (tmp_path / "a.graphml").write_text(text)
    document = parse(tmp_path / "a.graphml")
    assert document.data == [(0, "d", "<!DOCTYPE html> <!ENTITY")]


def test_other_programs_nested_data_is_passed_through(tmp_path: Path) -> None:
    (tmp_path / "a.graphml").write_text(
        '<graphml xmlns:y="y"><key id="d6" for="node" yfiles.type="nodegraphics"/><key id="e" for="edge"/><graph><data'
        ' key="g">note</data><node id="n0"><data'
        ' key="d6"><y:ShapeNode><y:NodeLabel>Ann</y:NodeLabel></y:ShapeNode></data><graph><node'
        ' id="n0::n1"/></graph></node><edge source="n0" target="n0::n1"><data key="e">1</data></edge></graph></graphml>'
    )
    document = parse(tmp_path / "a.graphml")
    assert document.nodes == ["n0", "n0::n1"]
    assert document.data == [(0, "d6", "Ann")]
    assert document.head is None
    assert document.notes == ["what else the edges hold was dropped: 'e'"]
