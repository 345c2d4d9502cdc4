"""The table of stages: each step is a pass of uop, takes what is forwarded to it, and its text is read."""

from dataclasses import fields

import pytest
from xdsl.passes import ModulePass

from uop.passes import get_all_passes
from uop.tools.pass_options import make_from_spec
from uop.tools.pipeline import build_pipeline, default_passes
from uop.tools.pipeline_text import PassSpec, parse_pipeline
from uop.tools.pipelines import NAMED_PIPELINES, TARGETS, CompileOptions, Stage, Step, stages_between

STEPS = list(dict.fromkeys(step for stages in TARGETS.values() for stage in stages for step in stage.steps))
OPTIONS = CompileOptions(arch="sm_80")


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_each_step_is_a_pass_that_takes_its_options(step: Step) -> None:
    passes = get_all_passes()
    assert step.name in passes
    pass_class = passes[step.name]()
    assert pass_class.name == step.name
    text = step.spell(OPTIONS)
    (spec,) = parse_pipeline(text)
    assert isinstance(spec, PassSpec)
    built = make_from_spec(pass_class, spec, text, kind="pass")
    for name in step.forwards:
        assert getattr(built, name) == getattr(OPTIONS, name)


@pytest.mark.parametrize(
    ("name", "stages", "after"),
    [
        (f"uop-to-{target}", stages, after)
        for target, stages in TARGETS.items()
        for after in ("", *(stage.name for stage in stages[:-1]))
    ],
)
def test_each_named_pipeline_is_read_back(name: str, stages: tuple[Stage, ...], after: str) -> None:
    options = CompileOptions(arch="sm_80", after=after)
    text = NAMED_PIPELINES[name](options)
    built = [pass_ for pass_ in build_pipeline(text, default_passes()) if isinstance(pass_, ModulePass)]
    named = [spec for spec in parse_pipeline(text) if isinstance(spec, PassSpec)]
    assert [pass_.name for pass_ in built] == [spec.name for spec in named]
    assert [spec.name for spec in named] == [
        step.name for stage in stages_between(after=after, stages=stages) for step in stage.steps
    ]


def test_forwarded_options_are_options_of_the_pipeline() -> None:
    known = {field.name for field in fields(CompileOptions)}
    assert {name for step in STEPS for name in step.forwards} <= known


@pytest.mark.parametrize("target", TARGETS)
def test_stages_have_different_names(target: str) -> None:
    names = [stage.name for stage in TARGETS[target]]
    assert len(names) == len(set(names))
