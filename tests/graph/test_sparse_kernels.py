"""The GPU kernels that all rooms use."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from scipy import stats

from nodewise.graph.tensors import Sparse
from tests.kernel_devices import KERNEL_DEVICES

pytestmark = pytest.mark.parametrize("device", KERNEL_DEVICES)


@pytest.mark.parametrize("width", [1, 5, 64])
def test_a_product_is_the_dense_one_also_for_empty_and_long_rows(width: int, device: str) -> None:
    from nodewise.graph.sparse_kernels import sparse_product

    matrix = sp.random(9, 40, 0.3, format="lil", dtype=np.float32, random_state=0)
    matrix[3] = 0
    matrix[4] = 1
    dense = torch.randn(3, 40, width, generator=torch.Generator().manual_seed(0))
    sparse = Sparse(matrix.tocsr(), torch.device(device))
    got = sparse_product(sparse.crow, sparse.col, sparse.values, dense.to(device))
    torch.testing.assert_close(got.cpu(), torch.from_numpy(matrix.toarray()) @ dense, rtol=1e-4, atol=1e-5)
    turned = dense.transpose(0, 1).contiguous().transpose(0, 1)  # not laid out row by row
    assert torch.equal(sparse_product(sparse.crow, sparse.col, sparse.values, turned.to(device)), got)


def test_uniform_numbers_follow_from_seed_step_and_purpose(device: str) -> None:
    from nodewise.graph.sparse_kernels import uniform

    def draw(seed: int, step: int, purpose: int) -> torch.Tensor:
        out = torch.empty(50, 60, device=device)
        whole = [torch.tensor([number], device=device) for number in (seed, step)]
        return uniform(out, *whole, purpose, low=-2.0, high=3.0).cpu()

    first = draw(2**62, 0, 7)
    assert first.min() >= -2 and first.max() < 3
    assert stats.kstest(first.ravel().numpy(), stats.uniform(-2, 5).cdf).pvalue > 0.001
    assert torch.equal(draw(2**62, 0, 7), first)
    for other in (draw(2**62 + 1, 0, 7), draw(2**62, 1, 7), draw(2**62, 0, 8)):
        assert abs(np.corrcoef(first.ravel(), other.ravel())[0, 1]) < 0.1
