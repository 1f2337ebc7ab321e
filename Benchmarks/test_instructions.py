"""The comparison of counted instructions finds regressions."""

import pytest

import instructions


@pytest.mark.parametrize("before, now, found", [
    ({"a": 1000}, {"a": 1030}, []),
    ({"a": 1000}, {"a": 1031}, ["a takes 1,031 instructions, 3.1 % more than 1,000"]),
    ({"server.get": 1000}, {"server.get": 1100}, []),
    ({"server.get": 1000}, {"server.get": 1101}, ["server.get takes 1,101 instructions, 10.1 % more than 1,000"]),
    ({"a": 1000, "b": 10}, {"a": 1000, "b": 20}, ["b takes 20 instructions, 100.0 % more than 10"]),
    ({"a": 1000}, {"a": 1}, []),
    ({}, {"a": 1}, ["a is not among the kept figures"]),
    ({"a": 1}, {}, ["a is kept, but no benchmark"]),
])
def test_what_grew_or_is_missing_is_named(before, now, found):
    assert instructions.compare(before, now, lambda _: True) == found


def test_what_is_not_chosen_is_not_judged(capsys):
    assert instructions.compare({"a": 1, "b": 1}, {"b": 1}, lambda name: name == "b") == []
    assert "a" not in capsys.readouterr().out.split()


def test_what_shrank_is_told_and_is_no_failure(capsys):
    assert instructions.compare({"a": 1000}, {"a": 900}, lambda _: True) == []
    assert "a takes 900 instructions instead of 1,000" in capsys.readouterr().out


def test_what_is_kept_reads_as_it_was_written(tmp_path, monkeypatch):
    monkeypatch.setattr(instructions, "KEPT", tmp_path / "kept.txt")
    figures = {"server.get": 1_234_567, "json.parse": 12}
    instructions.keep(figures)
    assert instructions.kept() == figures
    assert instructions.kept_on() == instructions.tools()
