from __future__ import annotations

import pytest

from nodewise.datasets.reddit.words import clean_text, known_words, post_link, vocabulary, words_of


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Don't (we) say 'well-known'?", ["Don't", "we", "say", "well", "known"]),
        ("Apple apple APPLE", ["Apple", "apple", "APPLE"]),
        ("Größe 東京 3.5%", ["Größe", "東京", "3", "5"]),
        ("snake_case http://a.org/x?y=1", ["snake", "case", "http", "a", "org", "x", "y", "1"]),
        ("it’s 'quoted' rock'n'roll dogs'", ["it's", "quoted", "rock'n'roll", "dogs"]),
        ("!!! … —", []),
        ("", []),
    ],
)
def test_words_keep_their_case_and_lose_punctuation(text: str, words: list[str]) -> None:
    assert words_of(text) == words


def test_a_word_with_an_apostrophe_is_cut_when_it_is_not_known() -> None:
    known = {"Bob", "'s", "must", "n't", "can't", "don"}
    assert list(known_words("Bob's can't mustn't don't we'd", known)) == ["Bob", "'s", "can't", "must", "n't", "n't"]


def test_the_vocabulary_holds_all_that_may_be_looked_up() -> None:
    assert vocabulary(["Bob's cat", "mustn't cat"]) == {"Bob's", "Bob", "'s", "cat", "mustn't", "must", "n't"}


def test_texts_are_shown_as_reddit_shows_them() -> None:
    assert clean_text("a &amp;&lt;b&gt; &amp;lt; \x00c") == "a &<b> &lt; c"


@pytest.mark.parametrize(
    ("url", "link"),
    [
        ("http://i.imgur.com/x.png", "http://i.imgur.com/x.png"),
        ("http://www.reddit.com/r/cats/comments/1abc/a_title/", "https://redd.it/1abc"),
        ("http://www.reddit.com/r/cats/comments/9zzz/other/", "http://www.reddit.com/r/cats/comments/9zzz/other/"),
        ("", "https://redd.it/1abc"),
    ],
)
def test_a_link_leads_to_the_page_and_never_shows_the_label_of_its_own_post(url: str, link: str) -> None:
    assert post_link("1abc", url) == link
