"""Runs at constant rates become tables and curves."""

import xml.etree.ElementTree

import pytest

import latency

RUNS = """\
create\ttimerd\t1000\t1000\t2\t4\t8\t9
create\ttimerd\t1000\t1000\t1\t6\t8\t9
create\ttimerd\t1000\t1000\t3\t6\t8\t9
create\ttimerd\thalf of peak\t5000\t3\t4\t8\t9
create\tbare C + sync\t1000\t1000\t1\t2\t4\t9
create\tbare C + sync\t1000\t1000\t1\t2\t4\t9
create\tbare C + sync\t1000\t1000\t1\t2\t4\t9
hook\ttimerd\t1000\t999\t2\t4\t\t
"""


@pytest.fixture
def runs(tmp_path):
    file = tmp_path / "latencies"
    file.write_text(RUNS)
    return latency.read(file)


def test_tables_have_medians_and_ratios_to_the_bare_server(runs, capsys):
    latency.tables(runs)
    assert (
        "| 1,000/s | timerd | 1,000/s | 2.00 ms (2.0 ×) | 6.00 ms (3.0 ×) | 8.00 ms (2.0 ×) | 9.00 ms (1.0 ×) |"
    ) in capsys.readouterr().out.splitlines()


def test_a_share_of_the_own_peak_is_held_against_nobody(runs, capsys):
    latency.tables(runs)
    line = next(line for line in capsys.readouterr().out.splitlines() if "half of peak" in line)
    assert "×" not in line


def test_what_is_not_known_is_left_empty(runs, capsys):
    latency.tables(runs)
    assert "| 4.00 ms |  |  |" in capsys.readouterr().out


def test_the_curves_are_a_picture(runs, capsys):
    latency.chart(runs)
    picture = xml.etree.ElementTree.fromstring(capsys.readouterr().out)
    curves = [path for path in picture.iter("{http://www.w3.org/2000/svg}path") if path.get("stroke")]
    # timerd's three percentiles; one point is no curve.
    assert len(curves) == 3
