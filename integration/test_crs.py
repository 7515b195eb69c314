"""The reference systems of .prj files of public packages, compared with GDAL's by pyproj's equality."""
import json
import warnings
from pathlib import Path

import pytest
from pyproj import CRS

DATA = Path(__file__).parents[1] / "readers" / "crs" / "testdata"
CASES = json.loads((DATA / "prj.json").read_text())
OURS = json.loads((DATA / "prj.want").read_text())

# Texts that we read differently, and why.
DIFFERENCES: dict[str, str] = {
    "900913.esri.prj": "the name and the parameters are those of EPSG:900913, which PROJ has; GDAL writes its WKT without the code",
    "world_merc.prj": "as 900913.esri.prj",
    "esri_webmerc.prj": "the name and the parameters are those of EPSG:3785, deprecated; GDAL writes its WKT without the code",
    "sr-org-6-esriwkt.prj": "no registered system: the text is sent unchanged, which pyproj reads as Mercator variant B; GDAL writes variant A",
    "sr-org-6-ogcwkt.prj": "as sr-org-6-esriwkt.prj",
}


def system(text):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return CRS(text)


def unequal():
    """The .prj files whose reference system differs from GDAL's, with both."""
    for case, ours in zip(CASES, OURS, strict=True):
        sent = ours["crs"] or (case["text"] if ours["read"] else None)
        if (sent is None) != (case["want"] is None) or (sent and system(sent) != system(case["want"])):
            yield case["name"], ours["crs"], case["want"]


def test_the_reference_systems_of_prj_files_are_those_of_gdal():
    different = [d for d in unequal() if d[0] not in DIFFERENCES]
    assert not different, f"{len(different)} of {len(CASES)}: {different}"


@pytest.mark.parametrize("case", [c for c in OURS if not c["crs"] and c["read"]], ids=lambda c: c["name"])
def test_a_text_that_is_sent_is_one_that_pyproj_reads(case):
    text = next(c["text"] for c in CASES if c["name"] == case["name"])
    assert system(text)
