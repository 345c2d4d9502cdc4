"""`uop-opt --check-bounds`: what the proofs of memory accesses say, as diagnostics."""

from collections.abc import Callable

from xdsl.dialects.builtin import ModuleOp

from ..rewriting.bounds import Finding, Verdict, check_bounds
from .diagnostics import Diagnostic, Positions, describe


def report_bounds(
    module: ModuleOp,
    positions: Positions,
    report: Callable[[Diagnostic], None],
    *,
    strict: bool = False,
    remarks: bool = False,
) -> str:
    """Report each access that is not proved to be inside its buffer; a line that counts the indices.

    strict: what depends on data is an error. remarks: else it is a remark.
    Raises `PassError` when z3 is needed and missing.
    """
    findings = check_bounds(module)
    for finding in findings:
        if finding.is_failure(strict):
            report(_diagnostic(finding, positions, "error"))
        elif remarks and finding.verdict is Verdict.DATA:
            report(_diagnostic(finding, positions, "remark"))
    counts = {verdict: sum(finding.verdict is verdict for finding in findings) for verdict in Verdict}
    texts = [f"{count} {verdict.value}" for verdict, count in counts.items() if count]
    return f"check-bounds: {len(findings)} indices: {', '.join(texts) or 'none'}"


def _diagnostic(finding: Finding, positions: Positions, severity: str) -> Diagnostic:
    diagnostic = positions.report("error" if severity == "error" else "remark", finding.message, finding.op)
    return diagnostic.replaced(details=tuple(describe(finding.op)))
