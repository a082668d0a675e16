"""Where the traces of a session lie that its tests share; with pytest-xdist, those of all workers."""

import os

import pytest

from tests import traces


@pytest.fixture(scope="session", autouse=True)
def _folder_of_traces(tmp_path_factory):
    own = tmp_path_factory.getbasetemp()
    traces.folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "traces"
    traces.folder.mkdir(exist_ok=True)
