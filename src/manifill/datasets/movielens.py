"""MovieLens, ml-latest-small: ratings of movies in stars."""

from pathlib import Path

import numpy as np
import pooch

from manifill.datasets.dataset import Dataset, Source
from manifill.datasets.download import dataset_folder, first_existing, read_csv, select_columns
from manifill.problem import Observations

__all__ = ["load_movielens"]

FOLDER = "ml-latest-small"
URL = "https://files.grouplens.org/datasets/movielens/ml-latest-small.zip"

# Checksums of the release of September 2018; according to its publisher the dataset may change.  The files are checked
# instead of the archive, since results depend on them alone.
SHA256 = {
    "movies.csv": "5a5f32dd9bb3797b8e728a1b98958789d2b13f294a69fdfbc5727f8a9611aa07",
    "ratings.csv": "aa289ca83157595d0df6aea1be6a4ded676ddc4385472e8313a8ed9805352646",
}

SOURCE = Source(
    citation=(
        "F. Maxwell Harper and Joseph A. Konstan (2015). The MovieLens Datasets: History and Context. ACM Transactions "
        "on Interactive Intelligent Systems 5(4): 19:1-19:19. https://doi.org/10.1145/2827872"
    ),
    licence=(
        "GroupLens usage licence: research use with acknowledgement, no implied endorsement, redistribution only under "
        "the same conditions, no commercial use without permission"
    ),
    url="https://grouplens.org/datasets/movielens/",
)


def load_movielens() -> Dataset:
    """Return the 100 836 ratings of ml-latest-small, 610 users × 9724 movies, 0.5 to 5 stars.

    Rows are labelled by user id, columns by movie id, both sorted; ``about_columns`` contains ``title`` and ``genres``
    of each movie, including unrated ones.  The files are read from ``ml-latest-small`` in the folder in the environment
    variable MANIFILL_DATA; if that is not set, they are downloaded once.
    """
    folder = dataset_folder(FOLDER, URL, SHA256, _check)
    ratings, movies = first_existing(folder, "ratings.csv"), first_existing(folder, "movies.csv")
    cells = select_columns(ratings, read_csv(ratings), ("userId", "movieId", "rating"))
    users, rows = np.unique([int(user) for user, _, _ in cells], return_inverse=True)
    items, cols = np.unique([int(item) for _, item, _ in cells], return_inverse=True)
    stars = [float(star) for _, _, star in cells]
    observations = Observations.from_triples(rows, cols, stars, row_labels=users, column_labels=items)
    metadata = select_columns(movies, read_csv(movies), ("movieId", "title", "genres"))
    titles = {int(item): {"title": title, "genres": genres} for item, title, genres in metadata}
    return Dataset(observations, SOURCE, about_columns=titles)


def _check(folder: Path) -> None:
    """Raise a ValueError if a download is not the expected release."""
    for file, known in SHA256.items():
        if pooch.file_hash(str(folder / file)) != known:
            raise ValueError(
                f"{file} in {URL} is not from the release of September 2018 (whose SHA-256 is {known}); try again, or "
                f"put the files into {FOLDER} in a folder and set the environment variable MANIFILL_DATA to it."
            )
