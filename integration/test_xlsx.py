"""Workbooks: GDAL's own test files, and tables that pyogrio wrote, are the tables that GDAL reads."""
import datetime

import numpy as np
import pandas as pd
import pyogrio
import pytest
from conftest import ticket
from differences.xlsx import workbook
from gdal import plain
from serving import ROOT, Server

FILES = sorted(path for folder in ROOT.parents for path in (folder / "shared/data/gdal/xlsx").glob("*.xlsx"))
# What differs, as DIFFERENCES.md says: columns that are not compared.
DIFFERENT = {("inlineStr.xlsx", "inlineStr"): None, ("test.xlsx", "Feuille1"): {"Field5"},
             ("test_empty_last_field.xlsx", "Sheet1"): {"Actual Completion", "Appointment"},
             ("test_missing_row1_data.xlsx", "Sheet1"): {"Actual Completion", "Appointment"}}


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("xlsx")
    for path in FILES:
        (folder / path.name).write_bytes(path.read_bytes())
    n = np.arange(2000)
    pyogrio.write_dataframe(pd.DataFrame({
        "i": n.astype("int32"), "x": pd.Series(n / 7).mask(n % 5 == 0), "text": pd.Series([f"\u00e9 {i}" for i in n], dtype=object).mask(n % 7 == 1),
        "at": pd.Timestamp("1969-12-31T12:00:00") + pd.to_timedelta(n, unit="h"), "day": [datetime.date(2020, 1, 1) + datetime.timedelta(int(i)) for i in n],
    }), folder / "written.xlsx", driver="XLSX")
    (folder / "layers.xlsx").write_bytes(workbook([["lon", "lat", "n"], [1.5, 2, 1], ["3", "4.25", 2], [None, 1, 3]], name="Points"))
    with Server(folder) as server:
        yield server.client(), folder


def same_table(client, folder, name, layer, options, without=()):
    ours = client.do_get(ticket(f"{name}#{layer}", options=options)).read_all()
    _, theirs = pyogrio.read_arrow(folder / name, layer=layer)
    rows = [r for r in theirs.to_pylist()]
    while rows and not any(v is not None for v in rows[-1].values()):
        rows.pop()
    assert ours.column_names == theirs.column_names and ours.num_rows == len(rows)
    for name in set(ours.column_names) - set(without):
        assert plain(ours[name]).to_pylist() == [r[name] for r in rows], name
        assert plain(ours[name]).type == theirs[name].type or plain(ours[name]).null_count == len(rows), name


@pytest.mark.skipif(not FILES, reason="GDAL's test files are not here")
def test_gdal_files(client):
    client, folder = client
    for path in FILES:
        for layer, _ in pyogrio.list_layers(path):
            different = DIFFERENT.get((path.name, layer), set())
            if different is not None:
                same_table(client, folder, path.name, layer, {"geometry": "none"}, different)


def test_written(client):
    client, folder = client
    same_table(client, folder, "written.xlsx", pyogrio.list_layers(folder / "written.xlsx")[0][0], {})


def test_points(client):
    table = client[0].do_get(ticket("layers.xlsx", geometry_encoding="wkt")).read_all()
    assert plain(table["geometry"]).to_pylist() == ["POINT (1.5 2)", "POINT (3 4.25)", None] and table["n"].to_pylist() == [1, 2, 3]
