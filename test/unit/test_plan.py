"""Plans: their text, what they refuse, and the walk that carries them out."""

import json
import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from uop.runtime.artifact.arrays import Array, PoisonedMemory, fit_inputs
from uop.runtime.artifact.elements import STORAGE_DTYPES
from uop.runtime.artifact.plan import Kernel, Launch, Plan, PlanError, Value
from uop.runtime.artifact.walk import walk

PLAN = Plan(
    function="forward",
    target="cuda",
    arch="sm_90",
    values=(
        Value("x", "f32", (2, 3)),
        Value("row", "f32", (6,), view_of=0),
        Value("a", "f32", (6,), offset=0),
        Value("b", "f32", (6,), offset=24),
        Value("c", "f32", (6,)),
        Value("out", "f32", (3, 2), view_of=4),
        Value("again", "f32", (1, 6), view_of=5),
    ),
    inputs=(0,),
    outputs=(5, 6, 1),
    kernels={"add": Kernel("add_", (2, 1, 1), 32, {"cuda": "kernels/add.cu"}, ((1, ()), (4, (0,)), (6, (1, 0))), 96)},
    launches=(Launch("add", (2,), (1, 1)), Launch("add", (3,), (2, 1)), Launch("add", (4,), (2, 3))),
    sources=("model.py:7", "größe.py:9"),
)


def run(plan: Plan, x: Array) -> list[Array]:
    def add(launch: Launch, buffers: Sequence[Array]) -> None:
        assert launch.kernel == "add"
        assert np.isnan(buffers[0]).all()
        buffers[0][:] = buffers[1] + buffers[2]

    return walk(plan, fit_inputs(plan, [x]), PoisonedMemory(plan), add)


def test_the_text_of_a_plan_gives_it_back() -> None:
    PLAN.check()
    assert Plan.from_json(PLAN.to_json()) == PLAN
    assert Plan.from_json(PLAN.to_json()).to_json() == PLAN.to_json()
    assert '  {"name": "a", "dtype": "f32", "shape": [6], "offset": 0},\n' in PLAN.to_json()


def test_walk() -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    out, again, row = run(PLAN, x)
    np.testing.assert_array_equal(out, (5 * x).reshape(3, 2))
    np.testing.assert_array_equal(again, (5 * x).reshape(1, 6))
    np.testing.assert_array_equal(row, x.reshape(6))
    assert PLAN.owned_outputs == [True, False, False]
    assert (PLAN.arena_bytes, PLAN.unplanned_bytes) == (48, 48)
    assert PLAN.last_uses == {2: 2, 3: 2, 4: 3}


def test_walk_of_ten_thousand_views() -> None:
    views = tuple(Value(f"v{n}", "f32", (6,), view_of=n) for n in range(10_000))
    plan = replace(PLAN, values=(Value("x", "f32", (2, 3)), *views), launches=(), outputs=(10_000,))
    plan.check()
    x = np.ones((2, 3), np.float32)
    np.testing.assert_array_equal(run(plan, x)[0], np.ones(6))


@pytest.mark.parametrize(
    ("array", "told"),
    [
        (np.zeros((3, 2), np.float32), r"argument x: f32\[2, 3\] is given an array of float32 of shape \(3, 2\)"),
        (np.zeros((2, 3)), r"argument x: f32\[2, 3\] is given an array of float64"),
    ],
)
def test_inputs_that_do_not_fit(array: Array, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        run(PLAN, array)
    with pytest.raises(ValueError, match="@forward takes 1 arrays, not 0"):
        fit_inputs(PLAN, [])


def with_value(place: int, **changes: object) -> Plan:
    values = list(PLAN.values)
    values[place] = replace(values[place], **changes)  # pyright: ignore[reportArgumentType]
    return replace(PLAN, values=tuple(values))


@pytest.mark.parametrize(
    ("plan", "launch", "told"),
    [
        (with_value(3, offset=20), 1, "bytes 20 to 44 of the arena hold a result that is still needed"),
        (with_value(5, view_of=5), None, "out is a view of a value that does not stand before it"),
        (with_value(5, shape=(3, 3)), None, "out is a view of more or fewer bytes"),
        (with_value(0, dtype="f8"), None, "x has the unknown element type 'f8'"),
        (replace(PLAN, launches=PLAN.launches[1:]), 0, "add reads a value before it is made"),
        (replace(PLAN, launches=PLAN.launches[:2]), None, "the program gives a value before it is made"),
        (replace(PLAN, launches=(PLAN.launches[0],) * 2), 1, "add writes a, which is there already"),
        (replace(PLAN, launches=(Launch("add", (1,), (0, 0)),)), 0, "add reads x and writes over it"),
        (replace(PLAN, launches=(Launch("add", (99,), (0, 0)),)), 0, "add takes a value that there is not"),
        (replace(PLAN, outputs=(99,)), None, "the program takes or gives a value that there is not"),
        (replace(PLAN, sources=()), None, "a kernel names a line of the user's program that there is not"),
        (with_value(2, offset=-1), None, "a has a negative extent or offset"),
        (replace(PLAN, kernels={}), 0, "there is no kernel add"),
    ],
)
def test_plans_that_cannot_be_carried_out(plan: Plan, launch: int | None, told: str) -> None:
    with pytest.raises(PlanError, match=told) as caught:
        plan.check()
    assert caught.value.launch == launch
    with pytest.raises(PlanError, match=told):
        Plan.from_json(plan.to_json())


def test_memory_is_used_again_when_nothing_needs_it() -> None:
    # The third launch reads the first's result no more.
    launches = (*PLAN.launches[:2], Launch("add", (4,), (3, 3)))
    replace(with_value(4, offset=0), launches=launches).check()
    with pytest.raises(PlanError, match="bytes 0 to 24 of the arena"):
        with_value(4, offset=0).check()


@pytest.mark.parametrize("text", ["", "[]", "{}", json.dumps({**json.loads(PLAN.to_json()), "launches": [{}]}), "{"])
def test_text_that_is_no_plan(text: str) -> None:
    with pytest.raises(PlanError, match="the text is no plan"):
        Plan.from_json(text)


def mutated(value: Any, draw: random.Random) -> Any:
    """JSON in which one value, somewhere, is another or is gone."""
    given: Any = value
    items: list[tuple[Any, Any]] = [*given.items()] if isinstance(value, dict) else [*enumerate(given)]
    if not items:
        return draw.choice(OTHERS)
    place = draw.randrange(len(items))
    key, item = items[place]
    deeper = type(item) in (dict, list) and draw.random() < 0.8
    items[place] = key, mutated(item, draw) if deeper else draw.choice(OTHERS)
    if draw.random() < 0.1:
        del items[place]
    return dict(items) if isinstance(value, dict) else [item for _, item in items]


OTHERS: list[Any] = [None, -1, 0, 10**20, 1.5, "", "x", [], {}, [[]], [-1], {"a": 1}, True]


def test_no_text_ends_in_another_error() -> None:
    """What is read can be walked, or is refused."""
    refused = 0
    for seed in range(300):
        try:
            plan = Plan.from_json(json.dumps(mutated(json.loads(PLAN.to_json()), random.Random(seed))))
        except PlanError:
            refused += 1
            continue
        assert Plan.from_json(plan.to_json()) == plan
        if max(plan.arena_bytes, *(value.byte_count for value in plan.values)) < 1000:
            values = [plan.values[place] for place in plan.inputs]
            inputs = [np.zeros(value.shape, STORAGE_DTYPES[value.dtype]) for value in values]
            walk(plan, fit_inputs(plan, inputs), PoisonedMemory(plan), lambda _, __: None)
    assert refused > 100


def test_sources_of_lines() -> None:
    kernel = PLAN.kernels["add"]
    assert [PLAN.sources_of(kernel, line) for line in (1, 3, 4, 5, 6, 99)] == [
        [],
        [],
        ["model.py:7"],
        ["model.py:7"],
        ["größe.py:9", "model.py:7"],
        ["größe.py:9", "model.py:7"],
    ]
    assert PLAN.sources_of(kernel) == ["model.py:7", "größe.py:9"]
