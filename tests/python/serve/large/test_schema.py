"""The published openapi.json, held by schemathesis: every answer has a status, a type and a form that it names."""
import pathlib
import subprocess
import sys

from conftest import Server


def test_every_answer_is_as_it_is_described(tmp_path):
    (tmp_path / "key").write_text("secret\n")
    running = Server("--batch-folder", str(tmp_path / "kept"), "--api-key-file", str(tmp_path / "key"))
    try:
        # What a schema cannot say: which texts the model's vocabulary can spell, and that "n" times the prompts is bounded.
        done = subprocess.run(
            [pathlib.Path(sys.executable).with_name("schemathesis"), "run", f"http://127.0.0.1:{running.port}/openapi.json",
             "-H", "Authorization: Bearer secret", "--phases", "examples,coverage,fuzzing", "--max-examples", "50", "--seed", "1",
             "--exclude-checks", "positive_data_acceptance", "--no-color"],
            capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
        paths = running.ask("/openapi.json")[1]["paths"]
        del paths["/openapi.json"]  # schemathesis does not test the document that it reads
        operations = sum(method != "parameters" for path in paths.values() for method in path)
        assert operations >= 19 and f"Tested: {operations}\n" in done.stdout, done.stdout[-3000:]
        assert running.ask("/health")[0] == 200
    finally:
        running.stop()
