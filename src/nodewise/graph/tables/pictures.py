"""Pictures as features: their pixels at a small size."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nodewise.ground.errors import GraphError, InputError
from nodewise.ground.events import Progress, Reporter, Silent

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["ENDINGS", "pictures_in", "pixels"]

ENDINGS = (".bmp", ".gif", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp")


_PIXELS = 2**26  # of a picture: a small file can claim any number of them


def pictures_in(folder: Path) -> list[Path]:
    """The pictures in a folder and the folders below it, in the order of their paths; hidden ones are left out.

    Raises:
        GraphError: if there are none.
    """
    every = (path for path in folder.rglob("*") if path.suffix.lower() in ENDINGS and path.is_file())
    shown = [path for path in every if not any(part.startswith(".") for part in path.relative_to(folder).parts)]
    if not shown:
        raise GraphError(f"there are no pictures in {folder}: a picture's name ends in {', '.join(ENDINGS)}")
    return sorted(shown, key=lambda path: path.relative_to(folder).as_posix())


def pixels(
    paths: Sequence[Path], size: int = 32, reporter: Reporter | None = None, *, as_grey: bool | None = None
) -> npt.NDArray[np.float32]:
    """Each picture, upright, on white, scaled to `size` × `size`: grey if all of them are grey, else red, green, blue.

    Args:
        paths: the files.
        size: pixels along each side.
        reporter: gets the number of pictures read.
        as_grey: whether they become grey, whatever they are; None: see above.

    Returns:
        float32 [picture, value] between 0 and 1.

    Raises:
        GraphError: if a file is missing or no picture; it is named.
    """
    if size < 1:
        raise InputError(f"the size of the pictures must be 1 pixel or more, received {size}")
    from PIL import Image, ImageOps

    report = reporter or Silent()
    values = np.empty((len(paths), size, size, 3), dtype=np.uint8)
    grey = True
    for i, path in enumerate(paths):
        if not path.is_file():
            raise GraphError(f"there is no picture {path} (row {i}): paths are relative to the folder of the table")
        try:
            with Image.open(path) as picture:
                if picture.width * picture.height > _PIXELS:
                    raise GraphError(
                        f"{path} has {picture.width} × {picture.height} pixels, more than {_PIXELS:,}: make it smaller"
                    )
                grey &= picture.mode in ("1", "L", "LA", "I;16", "I", "F")
                picture.draft(
                    "RGB", (size, size)
                )  # lets JPEG be decoded at a fraction of its size; the picture stays larger than asked
                seen = _on_white(ImageOps.exif_transpose(picture))
                if as_grey:
                    seen = seen.convert("L").convert("RGB")
                values[i] = np.asarray(seen.resize((size, size), Image.Resampling.BOX))
        except GraphError:
            raise
        except (OSError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
            raise GraphError(f"{path} cannot be read as a picture ({error}): replace it, or leave it out") from error
        report(Progress("pictures", i + 1, len(paths)))
    shown = values[..., :1] if (grey if as_grey is None else as_grey) else values
    return np.divide(shown.reshape(len(paths), -1), np.float32(255), dtype=np.float32)


def _on_white(picture: Any) -> Any:
    """The picture in red, green, blue; what is transparent becomes white."""
    from PIL import Image

    if "A" not in picture.getbands() and "transparency" not in picture.info:
        return picture.convert("RGB")
    seen = picture.convert("RGBA")
    white = Image.new("RGBA", seen.size, "white")
    return Image.alpha_composite(white, seen).convert("RGB")
