"""dbt with dbt-duckdb: the Python model of docs/how-to/clients/sqlalchemy.md reads a table, and a model in SQL reads that."""
import os
import pathlib
import subprocess
import sys

import duckdb
import pytest
from serving import ROOT
from test_client_programs import program

DBT = pathlib.Path(sys.executable).with_name("dbt")
FILES = {
    "dbt_project.yml": 'name: geo\nprofile: geo\nversion: "1.0"\nmodel-paths: [models]\n',
    "profiles.yml": "geo:\n  target: dev\n  outputs:\n    dev: {type: duckdb, path: geo.duckdb}\n",
    "models/top.sql": 'SELECT continent, count(*) AS n FROM {{ ref("countries") }} GROUP BY 1 ORDER BY n DESC LIMIT 2\n',
}


@pytest.mark.skipif(not DBT.exists(), reason="dbt is not installed here: make test-bi has it, in .venv-bi")
def test_models(server, tmp_path):
    files = FILES | {"models/countries.py": program("sqlalchemy.md", "dbt", "python").replace("grpc://127.0.0.1:8815", server.uri)}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "clients" / "python" / "src")}
    done = subprocess.run([DBT, "--no-send-anonymous-usage-stats", "run", "--profiles-dir", "."], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    with duckdb.connect(str(tmp_path / "geo.duckdb")) as stored:
        assert stored.sql("FROM top").fetchall() == [("Africa", 51), ("Asia", 47)]
