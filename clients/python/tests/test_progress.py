"""The bar."""

import sys

import pytest


def test_a_bar_counts_rows(server, capsys):
    server.table("large.csv", columns=["n"], progress=True).arrow()
    bar = capsys.readouterr().err
    assert "large.csv" in bar and "1.20M/1.20M" in bar


def test_the_text_of_a_query_is_cut(server, capsys):
    server.sql("SELECT 1 AS " + "a" * 100, progress=True).arrow()
    assert "a" * 27 + "…:" in capsys.readouterr().err


@pytest.mark.parametrize("progress", [None, False])
def test_none_where_nobody_looks(server, capsys, progress):
    server.table("grid.geojson", progress=progress).arrow()
    assert capsys.readouterr().err == ""


def test_one_that_is_asked_for_wants_tqdm(server, monkeypatch):
    for name in ("tqdm", "tqdm.auto"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r"vibeflight\[tqdm\]"):
        server.table("grid.geojson", progress=True).arrow()
    assert server.table("grid.geojson").arrow().num_rows == 100
