"""One table, written in every form."""

from __future__ import annotations

from dataclasses import replace

from nodewise.evaluation.results.tables import Entry, ResultTable, to_latex, to_markdown, to_rows

TABLE = ResultTable(
    "Title",
    ("name", "a|b", "c_d"),
    (("x & y", Entry("1 ± 2", "best"), Entry("3", "near")), ("50 %", None, "−4")),
    ("A note.",),
)


def test_tables_as_markdown() -> None:
    assert (
        to_markdown(TABLE)
        == "**Title**\n\n| name | a\\|b | c_d |\n| --- | ---: | ---: |\n| x & y | **1 ± 2** | *3* |\n| 50 % |  | −4"
        " |\n\nA note.\n"
    )


def test_a_caption_is_whole_sentences_once() -> None:
    said = replace(TABLE, title="scores of two", notes=("a note.", "Scores of two", "A note", " ", "is it one?"))
    assert r"\caption{Scores of two. A note. Is it one?}" in to_latex(said)


def test_tables_as_latex() -> None:
    text = to_latex(TABLE)
    assert r"x \& y & \textbf{1 $\pm$ 2} & \underline{3} \\" in text
    assert r"50 \% &  & $-$4 \\" in text
    assert r"\begin{tabular}{lrr}" in text and r"name & a|b & c\_d \\" in text and r"\caption{Title. A note.}" in text
    assert text.count("{") == text.count("}")


def test_tables_as_text() -> None:
    assert to_rows(TABLE) == [("x & y", "1 ± 2 *", "3 ="), ("50 %", None, "−4")]
