"""The judge of the soak accepts figures that are flat with noise, and finds figures that grow."""

import random

import pytest

from judge import MEASURES, judge, slope, table

HOUR = [5 * number for number in range(720)]
TWO_MINUTES = [2 * number for number in range(60)]
MEASURE = {measure.name: measure for measure in MEASURES}


def noisy(times, level, rise_an_hour, noise, seed=1):
    dice = random.Random(seed)
    return [level + rise_an_hour * time / 3600 + dice.gauss(0, noise) for time in times]


def saw(times, level, height, period):
    return [level + height * (time % period) / period for time in times]


def test_a_line_has_its_slope_and_no_noise():
    assert slope(HOUR, [100 + time / 360 for time in HOUR]) == pytest.approx((10, 0), abs=1e-6)


def test_the_noise_tells_how_far_to_trust_the_slope():
    rise, noise = slope(HOUR, noisy(HOUR, 100, 10, 5))
    assert abs(rise - 10) < 3 * noise
    assert slope([0, 1], [0, 1])[1] == float("inf")


@pytest.mark.parametrize("times", [HOUR, TWO_MINUTES])
@pytest.mark.parametrize("name, level, noise", [
    ("memory", 150, 3), ("descriptors", 120, 4), ("threads", 11, 0), ("log", 90, 8), ("disk", 150, 8)])
def test_what_is_flat_passes_whatever_its_noise(name, level, noise, times):
    for seed in range(50):
        assert judge(MEASURE[name], times, noisy(times, level, 0, noise, seed)).is_flat


def test_what_compaction_cuts_again_and_again_is_flat():
    assert judge(MEASURE["log"], HOUR, saw(HOUR, 80, 40, 170)).is_flat
    assert judge(MEASURE["log"], TWO_MINUTES, saw(TWO_MINUTES, 80, 40, 17)).is_flat


@pytest.mark.parametrize("name, level, rise, noise", [
    ("memory", 150, 40, 3),  # 60 bytes for each of 200 requests a second
    ("descriptors", 120, 60, 4),
    ("threads", 11, 3, 0),
    ("log", 90, 90, 8),
    ("disk", 150, 120, 8)])
def test_what_grows_for_an_hour_is_found(name, level, rise, noise):
    for seed in range(20):
        assert not judge(MEASURE[name], HOUR, noisy(HOUR, level, rise, noise, seed)).is_flat


def test_a_log_that_is_never_compacted_is_found_in_two_minutes():
    assert not judge(MEASURE["log"], TWO_MINUTES, noisy(TWO_MINUTES, 50, 1800, 4)).is_flat


def test_a_descriptor_lost_with_each_stream_is_found_in_two_minutes():
    assert not judge(MEASURE["descriptors"], TWO_MINUTES, noisy(TWO_MINUTES, 60, 5 * 3600, 3)).is_flat


def test_growth_while_it_warms_up_is_none():
    assert judge(MEASURE["memory"], HOUR, [min(time, 1100) / 10 for time in HOUR]).is_flat


def test_latency_is_told_and_not_judged():
    verdict = judge(MEASURE["GET p99"], HOUR, noisy(HOUR, 5, 500, 1))
    assert verdict.is_flat and verdict.slope > 300
    assert "not judged" in table([verdict])


def test_the_table_tells_what_grows():
    assert "GROWS" in table([judge(MEASURE["threads"], HOUR, [11 + time // 1000 for time in HOUR])])
