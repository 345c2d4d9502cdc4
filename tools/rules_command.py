"""`uop rules`: the rewrite rules by family, and their proofs."""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..passes.rule_families import RULE_FAMILIES
from ..rewriting.patterns import Rule
from .diagnostics import DiagnosticError
from .plugins import Plugin, installed_plugins, load_plugin

if TYPE_CHECKING:
    from ..runtime.proofs.prove import Proof

Families = Mapping[str, Sequence[Rule]]


def rules_command(options: argparse.Namespace) -> int:
    """List or prove rules; 1 if one is not proved, or none has such a name."""
    try:
        families = _chosen(_all_families(options.load), options.names)
    except DiagnosticError as error:
        print(error.diagnostic, file=sys.stderr)
        return 1
    if not families:
        print(f"uop rules: error: no family or rule has {' or '.join(options.names)} in its name", file=sys.stderr)
        return 1
    if options.prove:
        return _prove(families, strict=options.strict, as_json=options.json, jobs=options.jobs)
    if options.json:
        rows = [_described(family, rule) for family, rules in families.items() for rule in rules]
        print(json.dumps(rows, indent=2, ensure_ascii=False))
    else:
        print("\n".join(_listed(families)))
    return 0


def _all_families(files: Sequence[str]) -> dict[str, Sequence[Rule]]:
    """The project's families, then one for each plugin: installed ones, and the files. Raises `DiagnosticError`."""
    families: dict[str, Sequence[Rule]] = {name: rules.rules for name, rules in RULE_FAMILIES.items()}
    plugins: list[tuple[str, Plugin]] = [(plugin.source, plugin) for plugin in installed_plugins()]
    plugins += [(Path(file).stem, load_plugin(file)) for file in files]
    for name, plugin in plugins:
        families[name] = () if plugin.rules is None else plugin.rules.rules
    return families


def _chosen(families: Families, names: Sequence[str]) -> dict[str, list[Rule]]:
    """The rules of whose family or own name one of the names is a part; all where there are no names."""
    chosen = {
        family: [rule for rule in rules if not names or any(name in f"{family}: {rule}" for name in names)]
        for family, rules in families.items()
    }
    return {family: rules for family, rules in chosen.items() if rules}


def _place(rule: Rule) -> str:
    """Where a rule stands, from the current folder on where it is inside."""
    path = Path(rule.file)
    cwd = Path.cwd()
    return f"{path.relative_to(cwd) if path.is_relative_to(cwd) else path}:{rule.line}"


def _listed(families: Families) -> Iterator[str]:
    for family, rules in families.items():
        yield f"{family} ({len(rules)})"
        for rule in rules:
            assumed = f" [{', '.join(sorted(rule.assumes))}]" if rule.assumes else ""
            yield f"  {rule}{assumed}  {_place(rule)}"


def _described(family: str, rule: Rule) -> dict[str, object]:
    return {"family": family, "rule": str(rule), "place": _place(rule), "assumes": sorted(rule.assumes)}


def _prove(families: Families, strict: bool, as_json: bool, jobs: int) -> int:
    """Print a row for each rule, in order and as soon as it is proved, and what is wrong with those that are not.

    strict: a plugin's rule about ops of which it does not say what they mean is a failure too
    """
    from ..runtime.proofs.prove import Outcome

    rows: list[dict[str, object]] = []
    proofs: list[Proof] = []
    coming = _proofs([rule for rules in families.values() for rule in rules], jobs)
    for family, rules in families.items():
        if not as_json:
            print(f"{family} ({len(rules)})", flush=True)
        for rule in rules:
            proof = next(coming)
            proofs.append(proof)
            if as_json:
                rows.append(_described(family, rule) | _row(proof))
            else:
                print("\n".join(_text(proof)), flush=True)
    if as_json:
        print(json.dumps(rows, indent=2, ensure_ascii=False))
    else:
        print(_summary(proofs))
    excused = (
        set[Rule]()
        if strict
        else {rule for family in families if family not in RULE_FAMILIES for rule in families[family]}
    )
    failed = [p for p in proofs if not (p.is_right or (p.outcome is Outcome.NO_MEANING and p.rule in excused))]
    return 1 if failed else 0


def _proofs(rules: Sequence[Rule], jobs: int) -> Iterator[Proof]:
    """The proof of each rule, by `jobs` processes."""
    from ..runtime.proofs.prove import Proof, prove

    if jobs == 1:
        yield from map(prove, rules)
        return
    # A rule holds functions, which do not go from process to process: children have the rules from the fork.
    global _rules
    _rules = rules
    with multiprocessing.get_context("fork").Pool(jobs) as pool:
        for rule, facts in zip(rules, pool.imap(_facts, range(len(rules))), strict=True):
            yield Proof(rule, **facts)


_rules: Sequence[Rule] = ()


def _facts(place: int) -> dict[str, Any]:
    """The fields of the proof of a rule, but for the rule."""
    from ..runtime.proofs.prove import prove

    facts = vars(prove(_rules[place]))
    del facts["rule"]
    return facts


def _row(proof: Proof) -> dict[str, object]:
    return {
        "verdict": str(proof.outcome),
        "types": list(proof.types),
        "methods": list(proof.methods),
        "for_all": proof.for_all,
        "instances": proof.instances,
        "inputs": proof.inputs,
        "detail": proof.detail,
        "seconds": round(proof.seconds, 3),
    }


def _text(proof: Proof) -> Iterator[str]:
    """The rule and where it stands; below, what was proved, how, on how many inputs, how long it took."""
    rule = proof.rule
    yield f"  {proof.outcome.upper() if not proof.is_right else proof.outcome}  {rule}  {_place(rule)}"
    assumed = f"assuming {', '.join(sorted(rule.assumes))}" if rule.assumes else ""
    facts = (", ".join(proof.types), ", ".join(proof.methods), proof.satisfied, assumed, f"{proof.seconds:.2f} s")
    yield f"      {' · '.join(fact for fact in facts if fact)}"
    if proof.detail is not None:
        yield f"      {proof.detail}"


def _summary(proofs: Sequence[Proof]) -> str:
    counts: dict[str, int] = {}
    for proof in proofs:
        counts[str(proof.outcome)] = counts.get(str(proof.outcome), 0) + 1
    parts = ", ".join(f"{count} {outcome}" for outcome, count in counts.items())
    return f"{len(proofs)} rules: {parts}; {sum(proof.seconds for proof in proofs):.0f} s of the processor"
