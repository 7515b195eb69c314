"""GDAL's OAPIF driver, and the requests of QGIS, on OGC API - Features."""
import numpy
import pyarrow.flight as flight
import pyogrio
import shapely
import sql
from ogc import COUNTRIES, CRS84, EPSG, FEATURES, POINTS, UTM, countries, folder, link, server  # noqa: F401  fixtures

# Clients


def test_gdal_reads_all_pages(server, folder):
    table = server.client().do_get(flight.Ticket(POINTS)).read_all()
    frame = pyogrio.read_dataframe("OAPIF:" + server.ogc, layer=POINTS)
    assert len(frame) == FEATURES and frame["n"].tolist() == table["n"].to_pylist()
    assert frame["name"].tolist() == table["name"].to_pylist() and frame["ratio"].tolist() == table["ratio"].to_pylist()
    assert frame["big"].tolist() == table["big"].to_pylist() and frame["ok"].tolist() == table["ok"].to_pylist()
    assert [None if v != v else int(v) for v in frame["value"]] == table["value"].to_pylist()
    assert [str(v)[:10] for v in frame["day"]] == [str(v) for v in table["day"].to_pylist()]
    direct = pyogrio.read_dataframe(folder / POINTS)
    assert shapely.equals_identical(frame.geometry.values, direct.geometry.values).sum() == FEATURES - FEATURES // 1000
    assert frame.geometry.isna().sum() == FEATURES // 1000


def test_gdal_lists_layers_and_filters(server, countries):
    names = pyogrio.list_layers("OAPIF:" + server.ogc)[:, 0].tolist()
    assert {COUNTRIES, POINTS, UTM} <= set(names)
    info = pyogrio.read_info("OAPIF:" + server.ogc, layer=COUNTRIES)
    assert info["features"] == 177 and "CRS84" in info["crs"]
    box = (5.0, 45.0, 15.0, 55.0)
    frame = pyogrio.read_dataframe("OAPIF:" + server.ogc, layer=COUNTRIES, bbox=box)
    assert frame["name"].tolist() == countries.name[shapely.intersects(countries.geometry.values, shapely.box(*box))].tolist()
    for where, want in ("pop_est > 100000000 AND continent = 'Asia'", countries[(countries.pop_est > 1e8) & (countries.continent == "Asia")]), \
            ("name LIKE 'C%'", countries[countries.name.str.startswith("C")]), ("name ILIKE 'c%'", countries[countries.name.str.startswith("C")]), \
            ("NOT (continent = 'Africa')", countries[countries.continent != "Africa"]):
        assert pyogrio.read_dataframe("OAPIF:" + server.ogc, layer=COUNTRIES, where=where)["name"].tolist() == want.name.tolist(), where
    dated = pyogrio.read_dataframe("OAPIF:" + server.ogc, layer=POINTS, where="day = '2024-02-02' AND value > 900")
    assert set(dated["n"]) == set(server.ids(POINTS, filter="day = DATE('2024-02-02') AND value > 900"))


@sql.needs_spatial
def test_gdal_reads_other_systems(server, folder):
    want = pyogrio.read_dataframe(folder / UTM)
    frame = pyogrio.read_dataframe("OAPIF:" + server.ogc, layer=UTM, CRS="EPSG:25832")
    assert frame.crs == want.crs and numpy.allclose(frame.total_bounds, want.total_bounds)
    frame = pyogrio.read_dataframe("OAPIF:" + server.ogc, layer=UTM)
    assert frame.crs == want.crs  # GDAL prefers the system that the features are stored in
    frame = pyogrio.read_dataframe("OAPIF:" + server.ogc, layer=UTM, CRS="OGC:CRS84")
    assert "CRS84" in str(frame.crs) and numpy.allclose(frame.total_bounds, want.to_crs("OGC:CRS84").total_bounds)


def test_what_qgis_requests(server):
    """The requests of QGIS 3.44 and 4.0 (src/providers/wfs/oapif), in their order."""
    page = server.get("", headers={"Accept": "application/json"}).json
    api = server.get(link(page, "service-desc", "application/vnd.oai.openapi+json;version=3.0")["href"],
                     headers={"Accept": "application/vnd.oai.openapi+json;version=3.0, application/openapi+json;version=3.0, application/json"}).json
    assert api["components"]["parameters"]["limit"]["schema"]["maximum"] == 10_000
    collections = link(page, "data", "application/json")["href"]
    there = collections + "/" + COUNTRIES  # it does not escape the name
    document = server.get(there, headers={"Accept": "application/json"}).json
    assert document["extent"]["spatial"]["bbox"] and document["crs"] and document["storageCrs"]
    classes = server.get(link(page, "conformance")["href"]).json["conformsTo"]
    assert {"http://www.opengis.net/spec/cql2/1.0/conf/basic-spatial-operators", "http://www.opengis.net/spec/cql2/1.0/conf/case-insensitive-comparison"} <= set(classes)
    properties = server.get(there + "/queryables", headers={"Accept": "application/schema+json"}).json["properties"]
    assert properties["geometry"]["$ref"].startswith("https://geojson.org/schema/") and properties["name"]["type"] == "string"
    accept = {"Accept": "application/geo+json, application/json"}
    assert server.get(there + "/items?limit=10", headers=accept).json["numberMatched"] == 177
    url, count = f"{there}/items?limit=50&bbox=-180,-90,180,90&crs={CRS84}&bbox-crs={CRS84}&filter=(%22pop_est%22%20%3E%200)&filter-lang=cql2-text", 0
    while url:
        answer = server.get(url, headers=accept)
        assert answer.type == "application/geo+json"
        count += len(answer.json["features"])
        after = link(answer.json, "next", "application/geo+json")
        url = after and after["href"]
    assert count == 177
