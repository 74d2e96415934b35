import sys

import pytest

from metrics import MetricError, metric, profile
from metrics.answers import meteor_jar
from metrics.answers.meteor_jar import Program
from tests.metrics.answers.drawn import scored

ECHO = "import sys\nfor line in sys.stdin: print(line.strip().upper(), flush=True)"
HANG = "import sys, time\nsys.stdin.readline()\ntime.sleep(600)"
DIE = "import sys\nsys.stdin.readline()\nsys.exit('out of memory')"


def program(source, patience=30.0):
    return Program("The program", (sys.executable, "-c", source), patience)


def test_a_program_answers_line_by_line():
    running = program(ECHO)
    assert running.ask([f"line {n}" for n in range(5000)], 5000)[-1] == "LINE 4999"
    assert running.ask(["more"], 1) == ["MORE"]
    running.end()


def test_a_program_that_hangs_is_stopped_and_named():
    running = program(HANG, patience=0.5)
    with pytest.raises(MetricError, match=r"The program said nothing for 0.5 seconds and was stopped"):
        running.ask(["a"], 1)
    assert running.process.poll() is not None


def test_a_program_that_dies_is_named_with_its_last_words():
    running = program(DIE)
    with pytest.raises(MetricError, match=r"ended \(exit status 1\)\. Its last words: out of memory"):
        running.ask(["a"], 1)


def test_a_program_that_does_not_start_is_an_error_in_words():
    with pytest.raises(MetricError, match="The program could not be started"):
        Program("The program", ("/no/such/program",), 1)


def test_it_says_when_java_is_missing(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    assert meteor_jar.available() == "Java is not installed"
    with pytest.raises(MetricError, match=r"METEOR 1\.5 cannot be computed: Java is not installed"):
        scored(metric("meteor-1.5"), [("a", ["a"])])


@pytest.mark.only_on("java")
def test_it_says_when_its_jar_is_missing(monkeypatch, tmp_path):
    monkeypatch.setenv("METEOR_JAR", str(tmp_path / "meteor.jar"))
    assert meteor_jar.available() == f"there is no file {tmp_path}/meteor.jar, which METEOR_JAR names"
    (tmp_path / "meteor.jar").touch()
    assert meteor_jar.available() == "data/paraphrase-en.gz is not beside meteor.jar"


def test_it_is_among_the_metrics_of_kpqa_and_its_signature_says_how_it_reads():
    assert "meteor-1.5" in profile("kpqa-2021").metrics
    assert metric("meteor-1.5", "kpqa-2021").signature == (
        "metric:meteor-1.5|v:1|tok:ptb-kpqa+norm|lang:en|refs:max"
    )


@pytest.mark.long
@pytest.mark.only_on("java")
def test_hostile_texts_do_not_break_its_lines():
    drawn = [
        ("a ||| b\nEVAL ||| 1", ["a ||| b", ""]),
        ("", ["the cat"]),
        ("the cat\u2028sat", ["the cat sat"]),
        ("the cat", []),
    ]
    found = scored(metric("meteor-1.5"), drawn)
    assert 0 < found[0] <= 1
    assert found[1] == 0
    assert found[2] == pytest.approx(1)
    assert str(found[3]) == "nan"
