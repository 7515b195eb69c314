"""Generated data and queries for test_sql_same.py: the same ones each time, from a seed."""
import datetime
import json
import random

COUNTIES = ["Kerry", "Cork", "Mayo", "Clare", "São Tomé", "", None]


def files(folder, seed=8):
    """Writes the tables, and returns {table: name of its file}."""
    r = random.Random(seed)
    places = [feature(r, point(r), id=i, county=r.choice(COUNTIES), height=maybe(r, r.randint(-500, 9000)), score=maybe(r, r.randint(-40, 40) / 8),
                      founded=maybe(r, day(r)), tags=maybe(r, [r.choice("abcd") for _ in range(r.randint(0, 3))]), open=maybe(r, r.random() < 0.5)) for i in range(600)]
    parcels = [feature(r, box(r), id=i, owner=maybe(r, r.randint(0, 40)), county=r.choice(COUNTIES), value=maybe(r, r.randint(0, 1 << 40))) for i in range(250)]
    roads = [feature(r, line(r), id=i, name=f"R{i % 37}", lanes=maybe(r, r.randint(1, 6))) for i in range(300)]
    (folder / "places.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": places}))
    (folder / "parcels.geojson").write_text(json.dumps({"type": "FeatureCollection", "features": parcels}))
    (folder / "roads.geojsonl").write_text("".join(json.dumps(f) + "\n" for f in roads))
    with open(folder / "readings.csv", "w", newline="") as f:
        f.write("id,place,taken,celsius,note\n")
        for i in range(1500):
            taken = datetime.datetime(2024, 1, 1) + datetime.timedelta(seconds=r.randint(0, 40_000_000))
            f.write(f"{i},{r.randint(0, 700)},{taken.isoformat()},{r.choice(['', r.randint(-160, 160) / 4])},{r.choice(['', 'ok', 'late', 'x y'])}\n")
    (folder / "nothing.csv").write_text("id,county,height\n")
    return {"places": "places.geojson", "parcels": "parcels.geojson", "roads": "roads.geojsonl", "readings": "readings.csv", "nothing": "nothing.csv"}


def feature(r, geometry, **properties):
    return {"type": "Feature", "properties": properties, "geometry": None if r.random() < 0.04 else geometry}


def maybe(r, value):
    return None if r.random() < 0.12 else value


def day(r):
    return (datetime.date(1900, 1, 1) + datetime.timedelta(days=r.randint(0, 45_000))).isoformat()


def position(r):
    return [r.randint(-800, 800) / 16, r.randint(-800, 800) / 16]


def point(r):
    return {"type": "Point", "coordinates": position(r)}


def box(r):
    x, y = position(r)
    w, h = r.randint(1, 160) / 16, r.randint(1, 160) / 16
    return {"type": "Polygon", "coordinates": [[[x, y], [x + w, y], [x + w, y + h], [x, y + h], [x, y]]]}


def line(r):
    return {"type": "LineString", "coordinates": [position(r) for _ in range(r.randint(2, 6))]}


def queries(count=500, seed=9):
    """Texts over the tables of files. No text depends on what SQL leaves undefined, such as the order of rows: LIMIT follows an order by id, and a
    sum of floats is called approx."""
    r = random.Random(seed)
    makers = [filters, groups, joins, windows, nans, times, lists, sets, nested, nothing, spatial_filters, spatial_joins, shapes]
    return [makers[i % len(makers)](r) for i in range(count)]


def condition(r, depth=0):
    """A predicate on places p."""
    if depth < 2 and r.random() < 0.35:
        return f"({condition(r, depth + 1)} {r.choice(['AND', 'OR'])} {condition(r, depth + 1)})"
    if r.random() < 0.1:
        return f"NOT ({condition(r, depth + 1)})"
    county = r.choice(["Kerry", "Mayo", "São Tomé", "", "none"])
    return r.choice([
        f"p.height {op(r)} {r.randint(-500, 9000)}", f"p.score {op(r)} {r.randint(-40, 40) / 8}", f"p.county {op(r)} '{county}'", f"p.county LIKE '{r.choice(['K%', '%a%', '_ork', '%'])}'",
        f"p.height IS {r.choice(['', 'NOT '])}NULL", f"p.founded {op(r)} DATE '{day(r)}'", "p.open", f"p.id BETWEEN {r.randint(0, 300)} AND {r.randint(200, 700)}",
        f"p.county IN ('Cork', '{county}')", f"p.height % {r.randint(2, 9)} = 0", f"p.score IS NOT DISTINCT FROM {r.randint(-8, 8) / 8}", f"p.geometry IS {r.choice(['', 'NOT '])}NULL",
        f"list_contains(p.tags, '{r.choice('abz')}')", "p.score = -0.0",
    ])


def op(r):
    return r.choice(["=", "<>", "<", "<=", ">", ">="])


def filters(r):
    columns = r.sample(["p.id", "p.county", "p.height", "p.score", "p.founded", "p.tags", "p.open", "p.geometry", "p.score * 2 + p.height", "upper(p.county)", "coalesce(p.height, -1)"], r.randint(1, 5))
    text = f"SELECT {', '.join(columns)} FROM places p WHERE {condition(r)}"
    return text if r.random() < 0.5 else f"{text} ORDER BY p.id LIMIT {r.randint(0, 50)} OFFSET {r.randint(0, 30)}"


AGGREGATES = ["count(*)", "count(p.height)", "sum(p.height)", "min(p.score)", "max(p.founded)", "avg(p.height)", "count(DISTINCT p.county)", "min(p.county)", "bool_or(p.open)", "sum(p.score)",
              "list(p.id ORDER BY p.id)", "string_agg(p.county, '|' ORDER BY p.id)", "median(p.height)", "max(p.score) FILTER (WHERE p.open)", "arg_min(p.id, (p.height, p.id))"]


def groups(r):
    key = r.choice(["p.county", "p.open", "p.height // 1000", "year(p.founded)", "p.county, p.open", "len(p.tags)"])
    text = f"SELECT {key}, {', '.join(r.sample(AGGREGATES, r.randint(1, 4)))} FROM places p WHERE {condition(r)} GROUP BY {r.choice(['ALL', key])}"
    return text + r.choice(["", f" HAVING count(*) > {r.randint(0, 20)}"])


def joins(r):
    kind = r.choice(["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "SEMI JOIN", "ANTI JOIN"])
    right, on, columns = r.choice([
        ("readings q", "p.id = q.place", "q.celsius, q.note"), ("parcels q", "p.county = q.county AND p.id % 50 = q.id % 50", "q.value, q.owner"), ("nothing q", "p.county = q.county", "q.id"),
        ("places q", "p.id = q.id + 1", "q.height, q.geometry"), ("roads q", "p.height % 40 = q.lanes", "q.name"),
    ])
    columns = "p.id, p.county" + ("" if kind in ("SEMI JOIN", "ANTI JOIN") else ", " + columns)
    return f"SELECT {columns} FROM places p {kind} {right} ON {on} WHERE {condition(r)}"


def windows(r):
    over = f"OVER (PARTITION BY {r.choice(['p.county', 'p.open', 'p.height // 2000'])} ORDER BY {r.choice(['p.id', 'p.height, p.id', 'p.founded DESC NULLS LAST, p.id'])}"
    frame = r.choice(["", " ROWS BETWEEN 2 PRECEDING AND CURRENT ROW", " ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"])
    plain = r.choice(["row_number()", "rank()", "dense_rank()", "lag(p.height, 2)", "lead(p.county)", "ntile(5)"])
    framed = r.choice(["sum(p.height)", "count(p.score)", "max(p.founded)", "first_value(p.id)", "avg(p.height)"])
    return f"SELECT p.id, {plain} {over}), {framed} {over}{frame}) FROM places p WHERE {condition(r)}"


def nans(r):
    value = f"CASE WHEN p.id % {r.randint(2, 9)} = 0 THEN 'NaN'::DOUBLE WHEN p.id % 11 = 0 THEN '-inf'::DOUBLE ELSE p.score END"
    return r.choice([
        f"SELECT p.id, {value} AS v, v + 1, -v, v = v, v > {r.randint(-4, 4)}, isnan(v) FROM places p",
        f"SELECT {value} AS v, count(*) FROM places p GROUP BY v",
        f"SELECT min(v), max(v), count(DISTINCT v) FROM (SELECT {value} AS v FROM places p)",
        f"SELECT DISTINCT {value} AS v FROM places p WHERE v >= 0 OR v IS NULL",
        f"SELECT a.id, b.id FROM (SELECT p.id, {value} AS v FROM places p WHERE p.id < 60) a JOIN (SELECT p.id, {value} AS v FROM places p WHERE p.id < 60) b ON a.v = b.v",
    ])


def times(r):
    part = r.choice(["year", "month", "day", "quarter", "week"])
    return r.choice([
        f"SELECT id, taken, date_trunc('{part}', taken), {part}(taken) FROM readings WHERE id % {r.randint(2, 9)} = 0",
        f"SELECT {part}(taken) AS k, count(*), min(taken), sum((celsius * 4)::BIGINT) FROM readings GROUP BY k",
        f"SELECT id, taken + INTERVAL {r.randint(1, 90)} {r.choice(['DAY', 'HOUR', 'MONTH'])}, epoch(taken)::BIGINT FROM readings WHERE taken > TIMESTAMP '2024-{r.randint(1, 12):02}-01 00:00:00'",
        f"SELECT p.id, q.taken::DATE - p.founded FROM places p JOIN readings q ON p.id = q.place WHERE q.id < {r.randint(50, 900)}",
        f"SELECT strftime(taken, '%Y/%m') AS k, count(DISTINCT place), avg((celsius * 4)::INTEGER) FROM readings WHERE note <> '{r.choice(['ok', 'late'])}' GROUP BY k",
    ])


def lists(r):
    return r.choice([
        f"SELECT id, tags, len(tags), tags[{r.randint(1, 3)}], list_sort(tags), list_distinct(tags).list_sort() FROM places WHERE id % {r.randint(2, 5)} = 0",
        "SELECT t, count(*), sum(id) FROM (SELECT id, unnest(tags) AS t FROM places) GROUP BY t",
        f"SELECT id, list_transform(tags, x -> x || '{r.choice('xyz')}'), list_filter(tags, x -> x > 'b') FROM places",
        f"SELECT county, list(height ORDER BY id), {{'n': count(*), 'top': max(height)}} FROM places WHERE id < {r.randint(10, 600)} GROUP BY county",
        f"SELECT tags, count(*) FROM places GROUP BY tags HAVING count(*) > {r.randint(0, 6)}",
    ])


def sets(r):
    first = f"SELECT county, height // {r.randint(500, 3000)} FROM places p WHERE {condition(r)}"
    second = f"SELECT county, owner FROM parcels WHERE id < {r.randint(0, 250)}"
    return f"{first} {r.choice(['UNION', 'UNION ALL', 'EXCEPT', 'INTERSECT', 'EXCEPT ALL'])} {second}"


def nested(r):
    return r.choice([
        f"SELECT id, height FROM places p WHERE height > (SELECT avg(height) FROM places q WHERE q.county = p.county) AND {condition(r)}",
        f"SELECT id FROM parcels WHERE EXISTS (SELECT 1 FROM places p WHERE p.county = parcels.county AND {condition(r)})",
        f"SELECT id, county FROM places p WHERE id {r.choice(['', 'NOT '])}IN (SELECT place FROM readings WHERE celsius > {r.randint(-30, 30)})",
        f"WITH top AS (SELECT county, max(height) AS h FROM places p WHERE {condition(r)} GROUP BY county) SELECT p.id, top.h FROM places p JOIN top ON p.county = top.county AND p.height = top.h",
        f"WITH RECURSIVE up(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM up WHERE n < {r.randint(2, 20)}) SELECT n, (SELECT count(*) FROM places p WHERE p.height > n * 300) FROM up",
        f"SELECT * FROM (PIVOT (SELECT open, county, id FROM places WHERE county IN ('Kerry', 'Cork')) ON county IN ('Kerry', 'Cork') USING count(id) GROUP BY open)",
    ])


def nothing(r):
    return r.choice([
        f"SELECT * FROM nothing WHERE id {op(r)} '{r.randint(0, 9)}'", "SELECT count(*), sum(len(id)), max(county), list(height) FROM nothing", "SELECT county, count(*) FROM nothing GROUP BY county",
        f"SELECT p.id, n.county FROM places p LEFT JOIN nothing n ON p.county = n.county WHERE {condition(r)}", f"SELECT count(*) FROM places p WHERE {condition(r)} AND p.id > 10000",
        "SELECT id, row_number() OVER (ORDER BY id) FROM nothing", f"SELECT count(*) FROM places p, nothing n WHERE {condition(r)}", "SELECT p.* FROM places p SEMI JOIN nothing n ON p.county = n.county",
    ])


def envelope(r):
    (x, y), w, h = position(r), r.randint(1, 600) / 16, r.randint(1, 600) / 16
    return f"ST_MakeEnvelope({x}, {y}, {x + w}, {y + h})"


def spatial_filters(r):
    table = r.choice(["places", "parcels", "roads"])
    predicate = r.choice([f"ST_Intersects(geometry, {envelope(r)})", f"ST_Within(geometry, {envelope(r)})", f"geometry && {envelope(r)}", f"ST_Intersects_Extent(geometry, {envelope(r)})",
                          f"NOT ST_Intersects(geometry, {envelope(r)})", f"ST_Intersects({envelope(r)}, geometry) OR id < {r.randint(0, 20)}", f"ST_Distance(geometry, {envelope(r)}) < {r.randint(0, 9)}",
                          f"ST_Intersects(geometry, ST_GeomFromText('POINT ({position(r)[0]} {position(r)[1]})'))", f"ST_Contains({envelope(r)}, geometry) AND id % 2 = 0"])
    return f"SELECT {r.choice(['id', 'id, geometry', 'count(*)', 'id, ST_AsText(geometry)'])} FROM {table} WHERE {predicate}"


def spatial_joins(r):
    return r.choice([
        f"SELECT p.id, q.id FROM places p JOIN parcels q ON ST_Intersects(p.geometry, q.geometry) WHERE {condition(r)}",
        f"SELECT q.id, count(*) FROM parcels q JOIN places p ON ST_Contains(q.geometry, p.geometry) WHERE {condition(r)} GROUP BY q.id",
        f"SELECT a.id, b.id FROM roads a JOIN roads b ON ST_Intersects(a.geometry, b.geometry) AND a.id < b.id WHERE a.lanes = {r.randint(1, 6)}",
        f"SELECT q.id, p.id FROM parcels q LEFT JOIN places p ON ST_Within(p.geometry, q.geometry) AND {condition(r)} WHERE q.id < {r.randint(20, 250)}",
    ])


def shapes(r):
    return r.choice([
        f"SELECT id, ST_Area(geometry), ST_Centroid(geometry) FROM parcels WHERE id % {r.randint(1, 6)} = 0",
        f"SELECT county, sum(ST_Area(geometry)) AS approx FROM parcels WHERE id > {r.randint(0, 200)} GROUP BY county",
        f"SELECT id, ST_Length(geometry), ST_NPoints(geometry), ST_StartPoint(geometry) FROM roads WHERE lanes {op(r)} {r.randint(1, 6)}",
        f"SELECT id, ST_X(geometry), ST_Y(geometry), ST_AsText(geometry) FROM places p WHERE {condition(r)}",
        f"SELECT id, ST_GeometryType(geometry)::VARCHAR, ST_XMin(geometry), ST_YMax(geometry), ST_IsValid(geometry) FROM parcels WHERE id < {r.randint(1, 250)}",
        f"SELECT p.id, min(ST_Distance(p.geometry, q.geometry)) FROM places p, parcels q WHERE q.id % 25 = {r.randint(0, 24)} AND p.id < 100 GROUP BY p.id",
        f"SELECT id, ST_Buffer(geometry, {r.randint(1, 8) / 4}, 2), ST_Envelope(geometry) FROM roads WHERE id % {r.randint(3, 30)} = 1",
        f"SELECT avg(score) AS approx, count(*) FROM places p WHERE {condition(r)}",
    ])
