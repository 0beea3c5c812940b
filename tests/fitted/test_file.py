"""The file of a fitted learner: what comes back, and what is refused."""

import importlib
import io
import json
import struct
import sys
import zipfile
from hashlib import sha256

import numpy as np
import pytest
import scipy.sparse as sp

import nodewise as nw
from nodewise.classifiers import Views
from nodewise.ground.errors import FittedFileError, InputError

TEXTS = ["cat dog", "dog fur", "cat fur", "stock bond", "bond price", "stock price", "cat paw", "stock fund"]


def lengths(texts):
    return np.array([[len(text), text.count("o"), text.count("c")] for text in texts], dtype=np.float32)


@pytest.fixture
def saved(tmp_path):
    fitted = nw.fit(nw.Graph.from_texts(TEXTS, k=3), {0: "pet", 3: "money", 1: "pet"})
    fitted.save(tmp_path / "m.fitted")
    return fitted, tmp_path / "m.fitted"


def rewritten(path, change=lambda told: None, array=None, crafted=None):
    """The file with its JSON or one of its arrays changed, digests right."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    told = json.loads(members["fitted.json"])
    change(told)
    if array is not None:
        member, stream = f"array_{told['arrays'].index(array)}.npy", io.BytesIO()
        np.save(stream, crafted(np.load(io.BytesIO(members[member]))))
        members[member] = stream.getvalue()
        told["sha256"][member] = sha256(members[member]).hexdigest()
    members["fitted.json"] = json.dumps(told).encode()
    members["digest"] = sha256(members["fitted.json"]).hexdigest().encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def test_what_was_saved_comes_back(saved):
    fitted, path = saved
    again = nw.load_fitted(path)
    assert (again.labels, again.classes, repr(again)) == (fitted.labels, fitted.classes, repr(fitted))
    np.testing.assert_array_equal(again.probabilities, fitted.probabilities)
    np.testing.assert_array_equal(again.leave_one_out, fitted.leave_one_out)
    new = ["a dog with fur", "price of a bond", "nothing"]
    np.testing.assert_array_equal(again.predict(new).probabilities, fitted.predict(new).probabilities)
    assert again.predict(new).words == ("", "", "like nothing seen")
    assert again.explain(5) == fitted.explain(5) and again.ask(2) == fitted.ask(2)


def test_a_flipped_bit_is_refused_or_harmless(saved, tmp_path):
    fitted, path = saved
    content = path.read_bytes()
    other = tmp_path / "flipped.fitted"
    refused: list[str] = []
    for at in np.linspace(0, len(content) - 1, 150).astype(int).tolist():
        flipped = bytearray(content)
        flipped[at] ^= 0x10
        other.write_bytes(bytes(flipped))
        try:
            again = nw.load_fitted(other)
        except FittedFileError as error:
            refused.append(str(error))
        else:  # a date in the zip's own lists
            np.testing.assert_array_equal(again.probabilities, fitted.probabilities)
    assert len(refused) > 130 and all(str(other) in sentence for sentence in refused)
    other.write_bytes(content[: len(content) // 2])
    with pytest.raises(FittedFileError, match="damaged"):
        nw.load_fitted(other)


@pytest.mark.parametrize("part", [{"classifier": []}, {"classifier": {}}, {"seed": "x"}, {"seed": None}])
def test_a_file_that_tells_no_classifier_or_seed_is_refused(saved, part):
    _, path = saved
    rewritten(path, lambda told: told.update(part))
    with pytest.raises(FittedFileError, match="cannot be used"):
        nw.load_fitted(path)


def test_other_files_are_refused_in_a_sentence(tmp_path):
    with pytest.raises(FittedFileError, match=r"gone\.fitted"):
        nw.load_fitted(tmp_path / "gone.fitted")
    np.savez(tmp_path / "other.fitted.npz", x=np.ones(3))
    with pytest.raises(FittedFileError, match="is no fitted learner"):
        nw.load_fitted(tmp_path / "other.fitted.npz")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda told: told.update(schema=7), "is of form 7, written by nodewise"),
        (lambda told: told["learner"].update(version=1), "views of version 1, and this nodewise makes version"),
        (
            lambda told: told["classifier"].update(code="version 1"),
            "version 1 of the classifier 'views', and here is version",
        ),
        (
            lambda told: (told.update(schema=2), told["classifier"].update(version=1)),
            "version 1 of the classifier 'views', and here is version",
        ),
        (lambda told: told["labels"].append([999, 0]), "a label 0 of node 999, which are not there"),
        (lambda told: told["arrays"].pop(), r"names \d+ arrays and holds"),
    ],
)
def test_another_version_or_form_is_refused_in_a_sentence(saved, change, sentence):
    _, path = saved
    rewritten(path, change)
    with pytest.raises(FittedFileError, match=sentence):
        nw.load_fitted(path)


def test_a_file_of_the_form_before_that_holds_the_version_s_number_is_read(saved):
    fitted, path = saved

    def of_before(told):
        told["schema"] = 2
        told["classifier"]["version"] = int(told["classifier"].pop("code").removeprefix("version "))

    rewritten(path, of_before)
    np.testing.assert_array_equal(nw.load_fitted(path).probabilities, fitted.probabilities)


def test_code_of_one_s_own_that_has_changed_is_told_and_a_file_with_the_same_code_is_read_silently(
    tmp_path, monkeypatch, recwarn
):
    """A digest says that something was edited, perhaps a comment: the file is still read."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def mine(comment):
        (tmp_path / "own_views.py").write_text(
            f"from nodewise.classifiers import Views\n# {comment}\nclass Mine(Views):\n    name = 'mine'\n"
        )
        sys.modules.pop("own_views", None)
        importlib.invalidate_caches()
        return importlib.import_module("own_views").Mine()

    fitted = nw.fit(nw.Graph.from_texts(TEXTS, k=3), {0: "pet", 3: "money"}, classifier=mine("one"))
    fitted.save(tmp_path / "own.fitted")
    again = nw.load_fitted(tmp_path / "own.fitted", classifier=mine("one"))
    assert not recwarn.list
    with pytest.warns(UserWarning, match="the code of the classifier 'mine' has changed since"):
        changed = nw.load_fitted(tmp_path / "own.fitted", classifier=mine("two"))
    np.testing.assert_array_equal(again.probabilities, changed.probabilities)


def test_a_classifier_that_the_file_names_is_not_imported(saved):
    _, path = saved
    rewritten(path, lambda told: told["classifier"].update(name="os.path:join"))
    with pytest.raises(InputError, match=r"os\.path:join"):
        nw.load_fitted(path)
    with pytest.raises(FittedFileError, match="received 'views'"):
        nw.load_fitted(path, classifier=Views())


def test_another_encoder_and_other_columns_are_refused(tmp_path):
    fitted = nw.fit(nw.Graph.from_texts(TEXTS, k=3, encoder=lengths), {0: "pet", 3: "money"})
    fitted.save(tmp_path / "e.fitted")
    again = nw.load_fitted(tmp_path / "e.fitted")
    assert len(again.predict(["cat"], encoder=lengths)) == 1
    with pytest.raises(InputError, match="which is not kept"):
        again.predict(["cat"])
    with pytest.raises(InputError, match="not the encoder"):
        again.predict(["cat"], encoder=lambda texts: lengths(texts) + 1)
    table = nw.Graph.from_dataframe({"size": list(range(1, 16, 2)), "kind": list("abababab")}, k=3)
    of_table = nw.fit(table, {0: "x", 5: "y"})
    with pytest.raises(InputError, match="no column 'size'"):
        of_table.predict({"weight": [1], "kind": ["a"]})


@pytest.mark.parametrize("odd", [[], 1e308, "x", None])
def test_what_a_learner_is_told_that_is_no_record_is_refused_in_a_sentence(saved, odd):
    rewritten(saved[1], lambda told: told.__setitem__("learner", odd))
    with pytest.raises(FittedFileError, match=r"m\.fitted cannot be used"):
        nw.load_fitted(saved[1])


CRAFTED = {
    "no number": lambda array: np.full_like(array, np.nan),
    "texts": lambda array: np.array(["x"]),
    "none": lambda array: array[:0],
    "twice": lambda array: np.concatenate([array, array]),
    "one": lambda array: np.array(1.0, np.float32),
    "too large": lambda array: np.full_like(array, 3e38),
    "the least whole number": lambda array: np.full(array.shape, np.iinfo(np.int64).min),
}


@pytest.mark.parametrize("columns", [65, 2000])
def test_directions_by_which_much_memory_would_be_taken_are_refused(saved, columns):
    rewritten(saved[1], array="place together", crafted=lambda array: np.zeros((len(array), columns), np.float32))
    with pytest.raises(FittedFileError, match=rf"'place together' has the shape \[\d+, {columns}\], which no view has"):
        nw.load_fitted(saved[1])


def test_whole_numbers_of_no_size_are_refused(saved):
    least = np.iinfo(np.int64).min  # np.abs of it is itself
    rewritten(saved[1], array="place degree", crafted=lambda array: np.full(array.shape, least))
    with pytest.raises(FittedFileError, match=r"'place degree' holds numbers up to 9e\+18"):
        nw.load_fitted(saved[1])


def test_views_that_the_graph_does_not_have_are_refused(saved):
    def other(told):
        told["learner"]["views"][-1] = "kin apart"

    rewritten(saved[1], other)
    with pytest.raises(FittedFileError, match="its views are spectrum, .*, kin apart, and those of its graph are .*"):
        nw.load_fitted(saved[1])


def test_features_far_from_zero_are_read_again(tmp_path):
    """What is kept of such features is as large as they are; all else is not."""
    draws = np.random.default_rng(0)
    x = sp.csr_matrix((1e14 * (draws.random((40, 6)) < 0.7) * (1 + draws.random((40, 6)))).astype(np.float32))
    graph = nw.Graph.build(draws.integers(0, 40, (2, 80)), 40, x=x)
    fitted = nw.fit(graph, {0: "a", 1: "b", 2: "a"}, features="center")
    fitted.save(tmp_path / "far.fitted")
    again = nw.load_fitted(tmp_path / "far.fitted")
    np.testing.assert_array_equal(again.probabilities, fitted.probabilities)
    np.testing.assert_array_equal(again.predict(x[:3]).probabilities, fitted.predict(x[:3]).probabilities)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("crafted", CRAFTED)
def test_arrays_that_do_not_fit_are_refused_when_the_file_is_opened(saved, crafted):
    """Digests are right, as somebody who wants to do harm would write them: a sentence, or what can be used."""
    path, refused = saved[1], 0
    content = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        names = json.loads(archive.read("fitted.json"))["arrays"]
    for name in names:
        path.write_bytes(content)
        rewritten(path, array=name, crafted=CRAFTED[crafted])
        try:
            found = nw.load_fitted(path).predict(["cat", "bond fund"])
        except FittedFileError:
            refused += 1
        else:
            assert np.isfinite(found.probabilities).all()
    assert refused


def test_entries_that_claim_the_same_bytes_are_refused_before_they_are_read(saved):
    """Each entry's head lies in the content of the one before it: a hundred of them claim a hundred times the file."""
    path, room = saved[1], 2**16
    heads = [(f"array_{number}.npy".encode(), number * 64) for number in range(100)]
    end, content = 100 * 64 + room, bytearray(100 * 64 + room)
    listed = b""
    for name, start in heads:
        size = end - start - 30 - len(name)
        fields = struct.pack("<HHHHHLLLHH", 20, 0, 0, 0, 33, 0, size, size, len(name), 0)
        content[start : start + 30 + len(name)] = b"PK\x03\x04" + fields + name
        listed += b"PK\x01\x02" + struct.pack("<H", 20) + fields + struct.pack("<HHHLL", 0, 0, 0, 0, start) + name
    tail = struct.pack("<HHHHLLH", 0, 0, len(heads), len(heads), len(listed), end, 0)
    path.write_bytes(bytes(content) + listed + b"PK\x05\x06" + tail)
    assert sum(member.file_size for member in zipfile.ZipFile(path).infolist()) > 50 * path.stat().st_size
    with pytest.raises(FittedFileError, match="claims more than the file holds"):
        nw.load_fitted(path)
