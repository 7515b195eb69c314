"""Writes projjson.json.gz: the PROJJSON of the coordinate reference systems that files name most.

One JSON object, "AUTHORITY:CODE" to PROJJSON (https://proj.org/specifications/projjson.html), made from PROJ's copy of the EPSG
data set. Run in this folder with any Python that has pyproj; equal versions of PROJ give equal bytes:

    python projjson.py
"""
import gzip
import json

from pyproj import CRS

EPSG = [
    # the world: WGS 84 (also 3D), Web Mercator, World Mercator, EASE-Grid 2.0, UPS and polar stereographic
    4326, 4979, 3857, 3395, 6933, 4087, 3031, 3413, 3976, 3995, 5041, 5042, *range(32601, 32661), *range(32701, 32761),
    # Europe
    4258, 3034, 3035, 4230, *range(23028, 23039), *range(25828, 25839), 2154, 27572, *range(3942, 3951), 27700, 4277, 29902, 2157,
    31370, 3812, 28992, 7415, 4289, 4314, *range(31466, 31470), 4647, 31254, 31255, 31256, 31287, 4312, 21781, 2056, 4149, 2180, 5514, 3763,
    3844, 2100, 3765, 3794, 23700, 3006, 3021, 3067, 5972, 5973, 3059, 3301, 3346, 7801, 4171, 4937, 3003, 3004, 4265, 28404, 28405, 28406, 4284,
    # Americas
    4267, 4269, 5070, 6318, 6350, 6414, *range(26901, 26924), *range(26701, 26723), 2163, 9311, 2225, 2226, 2227, 2228, 2229, 2230, 2236, 2237, 2238,
    2248, 2249, 2263, 2264, 2272, 2276, 2277, 2278, 2285, 2286, 2913, 2926, 3338, 3435, 6434, 6539, 3347, 3978, 3979, 4617, 3005, 32198,
    4674, 5880, 5641, *range(31978, 31986), 4618, 5367, 6372, 9377,
    # Asia, Africa, Oceania
    4490, 4479, 4547, 4548, 4549, 4610, 4214, 4612, 6668, *range(6669, 6688), 5179, 5186, 4737, 3826, 3824, 2326, 3414, 4141, 2039, 4240, 24047,
    4148, *range(2046, 2056), 4222, 4283, 7844, 3112, 3577, *range(28348, 28359), *range(7846, 7860), 9473, 2193, 4167, 27200,
]

systems = {f"EPSG:{code}": f"EPSG:{code}" for code in sorted(set(EPSG))}
systems["OGC:CRS84"] = "OGC:CRS84"
text = json.dumps(
    {name: json.loads(CRS.from_user_input(of).to_json()) for name, of in systems.items()},
    ensure_ascii=False, separators=(",", ":"),
)
with open("projjson.json.gz", "wb") as f:
    f.write(gzip.compress(text.encode(), 9, mtime=0))
print(len(systems), "systems,", len(text), "characters")
