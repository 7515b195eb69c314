"""The stores that tests of remote files start: each serves the files of a folder, and ends with its `with`."""
import urllib.error
import urllib.request

import pytest
import stores


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b.txt").write_text("text")
    return tmp_path


def status_and_text(url):
    try:
        with urllib.request.urlopen(url) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as e:
        return e.code, b""


@pytest.mark.parametrize("store, flags, path, want", [
    (stores.HTTP, [], "/a/b.txt", (200, b"text")),
    (stores.S3, [], "/data/a/b.txt", (403, b"")),
    (stores.S3, ["--public"], "/data/a/b.txt", (200, b"text")),
    (stores.GCS, [], "/data/a/b.txt", (200, b"text")),
    (stores.Azure, ["--public"], "/data/a/b.txt", (200, b"text")),
    (stores.Moto, [], "/data/a/b.txt", (403, b"")),
])
def test_store_serves_its_folder_and_ends(folder, store, flags, path, want):
    with store(folder, *flags) as s:
        assert status_and_text(s.endpoint + path) == want
    assert s.process.returncode == 0
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen(s.endpoint + path)


def test_generated_keys():
    with stores.S3Keys(1500, "--public") as s:
        status, page = status_and_text(f"{s.endpoint}/{s.bucket}?list-type=2")
        assert status == 200 and page.count(b"<Key>") == 1000 and b"<IsTruncated>true</IsTruncated>" in page


def test_missing_program_skips(monkeypatch, tmp_path):
    monkeypatch.setenv("VIBEFLIGHT_STORES", str(tmp_path / "none"))
    with pytest.raises(pytest.skip.Exception, match="make stores"), stores.S3(tmp_path):
        pass
