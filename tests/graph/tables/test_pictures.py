import numpy as np
import pytest
from PIL import Image

from nodewise.graph.tables.pictures import pictures_in, pixels
from nodewise.ground.errors import GraphError


def save(path, colour, mode="RGB", size=(8, 8), **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new(mode, size, colour).save(path, **options)
    return path


def test_colours_and_transparency(tmp_path):
    red = save(tmp_path / "red.png", (255, 0, 0))
    clear = save(tmp_path / "clear.png", (0, 0, 0, 0), mode="RGBA")
    x = pixels([red, clear], size=2)
    assert x.dtype == np.float32
    np.testing.assert_array_equal(x, [[1, 0, 0] * 4, [1, 1, 1] * 4])


def test_grey_pictures_have_one_value_a_pixel(tmp_path):
    paths = [save(tmp_path / f"{grey}.png", grey, mode="L") for grey in (0, 51)]
    np.testing.assert_allclose(pixels(paths, size=3), [[0] * 9, [0.2] * 9], atol=1e-6)


def test_scaled_by_the_mean_of_the_pixels(tmp_path):
    values = np.array([[0, 100], [100, 200]], dtype=np.uint8)
    Image.fromarray(values).save(tmp_path / "a.png")
    np.testing.assert_allclose(pixels([tmp_path / "a.png"], size=1), [[100 / 255]], atol=1e-6)


def test_rotated_photographs_stand_upright(tmp_path):
    picture = Image.new("RGB", (4, 2), "black")
    picture.paste("white", (0, 0, 2, 2))  # the left half
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned by 90 degrees clockwise: left becomes top
    picture.save(tmp_path / "turned.png", exif=exif)
    upright = pixels([tmp_path / "turned.png"], size=2).reshape(2, 2, 3)
    assert upright[0].min() == 1
    assert upright[1].max() == 0


def test_folder_in_order_without_hidden_ones(tmp_path):
    for name in ("b/2.png", "a/1.JPG", ".hidden/3.png", "c.png"):
        save(tmp_path / name, "red")
    (tmp_path / "notes.txt").write_text("no picture")
    assert [path.relative_to(tmp_path).as_posix() for path in pictures_in(tmp_path)] == ["a/1.JPG", "b/2.png", "c.png"]


def test_what_is_wrong_is_told(tmp_path):
    with pytest.raises(GraphError, match="there are no pictures in"):
        pictures_in(tmp_path)
    with pytest.raises(GraphError, match=r"there is no picture .*gone\.png \(row 0\)"):
        pixels([tmp_path / "gone.png"])
    (tmp_path / "bad.png").write_bytes(b"\x89PNG but not really")
    with pytest.raises(GraphError, match=r"bad\.png cannot be read as a picture"):
        pixels([tmp_path / "bad.png"])
    whole = save(tmp_path / "whole.png", "red", size=(64, 64)).read_bytes()
    (tmp_path / "half.png").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(GraphError, match=r"half\.png cannot be read as a picture"):
        pixels([tmp_path / "half.png"])
