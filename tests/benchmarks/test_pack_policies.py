"""The package holds the policies of the experiments, packed."""

from __future__ import annotations

import gzip

from benchmarks.pack_policies import FOLDER, PACKED, packed


def test_the_package_holds_what_lies_in_the_folder() -> None:
    assert len(list(FOLDER.iterdir())) > 30
    assert gzip.decompress(PACKED.read_bytes()) == gzip.decompress(packed(FOLDER)), "python -m benchmarks.pack_policies"
