"""One OpenMP thread for scikit-learn's histogram boosting: on small data, more only wait for each other."""

from collections.abc import Iterator

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True, scope="package")
def one_openmp_thread() -> Iterator[None]:
    with threadpool_limits(1, user_api="openmp"):
        yield
