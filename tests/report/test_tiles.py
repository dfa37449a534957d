import numpy as np
import pytest

from manifill.report.tiles import leading_orders, tile_means, tile_of_each, tiled_axis


@pytest.mark.parametrize(("size", "tiles"), [(7, 7), (7, 3), (7, 20), (1, 5), (150, 149)])
def test_tiles_contain_every_index_once_and_have_nearly_equal_sizes(size: int, tiles: int) -> None:
    found = tiled_axis(np.arange(size), tiles)
    assert found.sizes.sum() == size
    assert found.sizes.size == min(size, tiles)
    assert found.sizes.max() - found.sizes.min() <= 1


def test_a_tile_shows_the_mean_of_its_cells() -> None:
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(11, 7))
    rows, columns = tiled_axis(rng.permutation(11), 4), tiled_axis(rng.permutation(7), 3)
    of_row, of_column = tile_of_each(rows), tile_of_each(columns)
    direct = [[matrix[of_row == i][:, of_column == j].mean() for j in range(3)] for i in range(4)]
    np.testing.assert_allclose(tile_means(matrix, rows, columns), direct)


def test_a_mask_gives_shares() -> None:
    mask = np.array([[True, False], [True, True]])
    assert tile_means(mask, tiled_axis(np.arange(2), 1), tiled_axis(np.arange(2), 1)) == 0.75


def test_rows_and_columns_are_sorted_by_the_leading_singular_vectors() -> None:
    rng = np.random.default_rng(1)
    matrix = 5.0 * np.outer(rng.normal(size=30), rng.normal(size=20)) + 0.1 * rng.normal(size=(30, 20))
    U, _, Vt = np.linalg.svd(matrix)
    for order, vector in zip(leading_orders(matrix), (U[:, 0], Vt[0]), strict=True):
        sorted_entries = vector[order]
        assert np.all(np.diff(sorted_entries) > 0) or np.all(np.diff(sorted_entries) < 0)


def test_a_constant_matrix_keeps_its_order() -> None:
    rows, columns = leading_orders(np.zeros((4, 3)))
    assert rows.tolist() == [0, 1, 2, 3]
    assert columns.tolist() == [0, 1, 2]
