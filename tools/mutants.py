"""Seeded one-line mutants of the engine: every one must be killed by the tests, or the tests are worth less than said.

    python tools/mutants.py [--only TEXT] [--invariants] [--list]

Each mutant replaces one place in a temporary copy of the package; the tree is never touched. The tests run against
the copy until the first failure. `--invariants` leaves out the tests of single cases, so that the property tests have
to do it alone. Prints a table; exits 1 when a mutant survives, 2 when one no longer applies or the tests fail without
any.
"""

# ruff: noqa: E501  # the places are quoted as they stand

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "qiongli-core" / "src" / "qiongli"
TESTS = ROOT / "qiongli-core" / "tests"

CASES = (
    *("test_scoring.py", "test_costs.py", "test_safety.py", "test_routing.py", "test_clarification.py"),
    *("test_session.py", "test_limits.py", "test_oracle_cases.py", "test_diagnostics.py"),
)
INVARIANTS = (
    *("test_invariants_score.py", "test_invariants_order.py", "test_invariants_gates.py"),
    *("test_invariants_standing.py", "test_invariants_questions.py", "test_session.py", "test_diagnostics.py"),
    *("test_invariants_tasks.py", "test_invariants_memory.py"),
)
#: Names of the tests that are cases and not properties in the files that hold both.
NOT_INVARIANT = "not TestBuilders"


@dataclass(frozen=True)
class Mutant:
    """One seeded fault: what it stands for, and the one place that is replaced."""

    kind: str
    file: str
    old: str
    new: str

    def applied(self, text: str) -> str:
        """The file's text with the fault in it; raises `LookupError` unless the place occurs exactly once."""
        if text.count(self.old) != 1:
            raise LookupError(f"{self.kind}: the place occurs {text.count(self.old)} times in {self.file}")
        return text.replace(self.old, self.new)


#: The 22 kinds of the heuristics contract, in its order.
CONTRACT = (
    Mutant(
        "NaN prior passes through",
        "scoring/weighing.py",
        "    declared = bounded(route.prior, ceiling)",
        "    declared = route.prior",
    ),
    Mutant("no caps", "scoring/weighing.py", "_well_formed(values, limits.weight_cap)", "_well_formed(values, 10**9)"),
    Mutant(
        "duplicate ids add up",
        "scoring/weighing.py",
        "            if _heavier(item, old):\n                accepted[item.id] = item\n        else:",
        "            accepted[item.id + str(len(accepted))] = item\n        else:",
    ),
    Mutant(
        "last duplicate wins",
        "scoring/weighing.py",
        "            if _heavier(item, old):\n                accepted[item.id] = item\n        else:",
        "            accepted[item.id] = item\n        else:",
    ),
    Mutant(
        "first match only",
        "scoring/weighing.py",
        "    for item in accepted:\n",
        "    for item in list(accepted)[:1]:\n",
    ),
    Mutant(
        "unknown cost is 0",
        "costs.py",
        "    if amount is None:\n        amount = limits.cost_cap",
        "    if amount is None:\n        amount = 0 if cost is None else limits.cost_cap",
    ),
    Mutant(
        "malformed cost is 0",
        "costs.py",
        "    if amount is None:\n        amount = limits.cost_cap",
        "    if amount is None:\n        amount = limits.cost_cap if cost is None else 0",
    ),
    Mutant("cost sign flipped", "scoring/weighing.py", "    cost = charged_cost(", "    cost = -charged_cost("),
    Mutant(
        "session uncapped",
        "scoring/weighing.py",
        "bounded_signed(route.session, limits.session_cap)",
        "bounded_signed(route.session, SCALE)",
    ),
    Mutant(
        "upper clamp absorbs penalties",
        "scoring/weighing.py",
        "total=max(0, min(SCALE, total)),",
        "total=max(0, min(600_000, total)),",
    ),
    Mutant(
        "vagueness floor",
        "scoring/weighing.py",
        "total=max(0, min(SCALE, total)),",
        "total=max(350_000 if len(boosts) < 2 else 0, min(SCALE, total)),",
    ),
    Mutant(
        "gate fails open on None",
        "safety.py",
        "return self.outcome is Outcome.PASS",
        "return self.outcome in (Outcome.PASS, None)",
    ),
    Mutant(
        "scores composed before eligibility",
        "routing/subjects.py",
        "        verdict = eligibility(candidate.gates, SUBJECT_GATES)\n        if verdict.eligible:",
        "        verdict = eligibility(candidate.gates, SUBJECT_GATES)\n        if verdict.eligible or _standing(candidate, limits).suggestible:",
    ),
    Mutant(
        "pattern override lifts a gate",
        "routing/subjects.py",
        "        verdict = eligibility(candidate.gates, SUBJECT_GATES)\n        if verdict.eligible:",
        "        verdict = eligibility(candidate.gates, SUBJECT_GATES)\n"
        '        if verdict.eligible or any(getattr(item, "override", False) for item in candidate.evidence):',
    ),
    Mutant(
        "session lifts a gate",
        "routing/subjects.py",
        "        verdict = eligibility(candidate.gates, SUBJECT_GATES)\n        if verdict.eligible:",
        "        verdict = eligibility(candidate.gates, SUBJECT_GATES)\n        if verdict.eligible or (candidate.session or 0) >= 50_000:",
    ),
    Mutant(
        "disabled subject allowed", "safety.py", 'state == "active", state_reasons', 'state != "broken", state_reasons'
    ),
    Mutant(
        "float sums",
        "scoring/weighing.py",
        "        total += held // divisor\n        if items",
        "        total = int((total / SCALE + held / SCALE / divisor) * SCALE)\n        if items",
    ),
    Mutant(
        "executes when rounds run out",
        "clarification.py",
        "before >= limits.clarification_rounds",
        "before > 10**9",
    ),
    Mutant(
        "blocked candidate offered in a question",
        "clarification.py",
        "eligible = [standing.subject for standing in routing.ranked if standing.subject in fact.subjects]",
        "eligible = [standing.subject for standing in routing.ranked if standing.subject in fact.subjects] + "
        "[item.subject for item in routing.blocked]",
    ),
    Mutant(
        "no margin",
        "routing/order.py",
        "lowest = winner.scored.total - limits.margin",
        "lowest = winner.scored.total + 1",
    ),
    Mutant(
        "input-order ties",
        "routing/order.py",
        "tuple(sorted(routes, key=_rank_key))",
        "tuple(sorted(routes, key=lambda item: _rank_key(item)[:3]))",
    ),
    Mutant(
        "single dimension allowed", "safety.py", "needed = 1 if single_dimension_proved is True else 2", "needed = 1"
    ),
)

SCORER = (
    Mutant("no discount within a dimension", "scoring/weighing.py", "item.weight // scale", "item.weight"),
    Mutant("no discount across dimensions", "scoring/weighing.py", "divisor *= limits.across_divisor", "divisor *= 1"),
    Mutant("rounds up within a dimension", "scoring/weighing.py", "item.weight // scale", "-(-item.weight // scale)"),
    Mutant(
        "shares rounded one by one",
        "scoring/breakdown.py",
        "after - before, item.source",
        "amount // divisor, item.source",
    ),
    Mutant(
        "dimensions in the order of arrival",
        "scoring/weighing.py",
        "    dimensions.sort(key=_strongest_first)\n",
        "",
    ),
    Mutant(
        "signals in the order of arrival",
        "scoring/weighing.py",
        "ordered = sorted(items, key=_by_weight) if len(items) > 1 else items",
        "ordered = items",
    ),
    Mutant(
        "one id counts in two dimensions",
        "scoring/weighing.py",
        "old = accepted.get(item.id)\n        if old is None:\n            accepted[item.id] = item\n        elif",
        "old = accepted.get(item.id + item.dimension)\n        if old is None:\n            accepted[item.id + item.dimension] = item\n        elif",
    ),
    Mutant(
        "unknown dimension counts",
        "scoring/weighing.py",
        "        if rank is None:\n            rejected += 1\n            continue",
        "        if rank is None:\n            rank = 99",
    ),
    Mutant(
        "penalties add up per hit",
        "scoring/weighing.py",
        "        if old is None or _heavier(item, old):\n            accepted[item.id] = item\n    return sorted",
        "        accepted[item.id + str(len(accepted))] = item\n    return sorted",
    ),
    Mutant("penalties unlimited", "scoring/weighing.py", "max(0, penalised - limits.penalties_cap)", "0"),
    Mutant("penalties lower lenses", "scoring/weighing.py", 'advisory = route.kind != "lens"', "advisory = True"),
    Mutant(
        "subjects pay a cost",
        "scoring/weighing.py",
        'limits) if route.kind == "resource" else 0',
        'limits) if route.kind != "lens" else 0',
    ),
    Mutant(
        "a subject declares its own prior",
        "scoring/weighing.py",
        "ceiling = limits.subject_prior if",
        "ceiling = SCALE if",
    ),
    Mutant(
        "negated evidence counts",
        "scoring/routes.py",
        'return evidence.role == "signal" and evidence.polarity == "asserted" and evidence.activation == "subject"',
        'return evidence.role == "signal" and evidence.polarity != "quoted" and evidence.activation == "subject"',
    ),
    Mutant(
        "method-only evidence counts for the subject",
        "scoring/routes.py",
        'evidence.polarity == "asserted" and evidence.activation == "subject"\n',
        'evidence.polarity == "asserted" and evidence.activation != "context_only"\n',
    ),
    Mutant(
        "context-only evidence lends a lens",
        "scoring/routes.py",
        '            evidence.activation == "method_only"\n            or',
        '            evidence.activation != "subject"\n            or',
    ),
    Mutant("a lens counts signals of other slugs", "scoring/routes.py", "        and evidence.value == lens\n", ""),
    Mutant(
        "a claim of one dimension needs no proof",
        "scoring/routes.py",
        "single_dimension=single_dimension_proved is True",
        "single_dimension=single_dimension_proved is not False",
    ),
    Mutant(
        "the one dimension is not clipped",
        "scoring/weighing.py",
        "limits.single_dimension_divisor, limits.single_dimension_cap)",
        "limits.single_dimension_divisor)",
    ),
    Mutant(
        "a second dimension costs the exemption",
        "scoring/weighing.py",
        "if not single_dimension or not dimensions:",
        "if not single_dimension or len(dimensions) != 1:",
    ),
    Mutant(
        "malformed evidence is not counted",
        "scoring/weighing.py",
        "        if weight is None or not isinstance(item.id, str):\n            rejected += 1",
        "        if weight is None or not isinstance(item.id, str):\n            rejected += 0",
    ),
    Mutant(
        "absent session shown as zero",
        "scoring/weighing.py",
        "if advisory and route.session is not None:",
        "if advisory:",
    ),
    Mutant(
        "floor is not shown",
        "scoring/breakdown.py",
        '        entries.append(ScoreEntry("floor", "zero", Ppm(-weighing.unclipped)))',
        "        pass",
    ),
    Mutant("negative scores", "scoring/weighing.py", "total=max(0, min(SCALE, total)),", "total=min(SCALE, total),"),
    Mutant("scores above one", "scoring/weighing.py", "total=max(0, min(SCALE, total)),", "total=max(0, total),"),
    Mutant(
        "malformed risk is harmless",
        "costs.py",
        "limits.risk_cap if known is None else",
        "limits.risk_floor if known is None else",
    ),
    Mutant("risk makes cheaper", "costs.py", "max(limits.risk_floor, known)", "known"),
    Mutant(
        "cost unlimited after risk",
        "costs.py",
        "return min(limits.cost_cap, amount * multiplier // SCALE)",
        "return amount * multiplier // SCALE",
    ),
    Mutant(
        "unknown size is free",
        "costs.py",
        "        return limits.cost_cap\n    return limits.cost_cap",
        "        return 0\n    return limits.cost_cap",
    ),
    Mutant("bool is a number", "limits.py", "    if isinstance(value, bool):\n        return None\n", ""),
    Mutant(
        "bool fills a slot",
        "limits.py",
        "    if type(value) is not int or value < 0:",
        "    if not isinstance(value, int) or value < 0:",
    ),
    Mutant(
        "negative fills a slot",
        "limits.py",
        "    if type(value) is not int or value < 0:",
        "    if type(value) is not int:",
    ),
    Mutant("rounds half up", "limits.py", "(twice == denominator and quotient % 2)", "twice == denominator"),
    Mutant("negative numbers are quantised", "limits.py", "if ratio is None or ratio[0] < 0:", "if ratio is None:"),
    Mutant(
        "inequality (a) not checked",
        "limits.py",
        "limits.subject_prior * unit + one_dimension <= lowest * unit,",
        "True,",
    ),
    Mutant("inequality (b) not checked", "limits.py", "2 * limits.session_cap <= limits.margin,", "True,"),
    Mutant(
        "inequality (c) not checked", "limits.py", "(highest - limits.subject_prior) * unit < all_patterns,", "True,"
    ),
    Mutant(
        "inequality (e) not strict",
        "limits.py",
        "limits.session_cap < limits.weight_floor,",
        "limits.session_cap <= limits.weight_floor,",
    ),
    Mutant(
        "inequality (f) forgets the session",
        "limits.py",
        "(limits.subject_prior + limits.session_cap) * unit + all_patterns",
        "limits.subject_prior * unit + all_patterns",
    ),
    Mutant(
        "inequality (g) not strict",
        "limits.py",
        "limits.cost_cap * unit < all_patterns,",
        "limits.cost_cap * unit <= all_patterns,",
    ),
    Mutant(
        "inequality (h) not checked",
        "limits.py",
        "limits.lens_prior + limits.lending_weight >= limits.lens_threshold\n",
        "True\n",
    ),
    Mutant(
        "strict is not stricter",
        "limits.py",
        "suggest_threshold=self.strict_suggest_threshold,",
        "suggest_threshold=self.suggest_threshold,",
    ),
)

GATES = (
    Mutant(
        "any gate suffices",
        "safety.py",
        "        if not gate.passed:\n            eligible = False\n",
        "        if gate.passed:\n            return Eligibility(True)\n        eligible = False\n        if True:\n",
    ),
    Mutant(
        "an exception passes",
        "safety.py",
        "        return Gate(name, Outcome.FAIL, (reason,))",
        "        return Gate(name, Outcome.PASS, (reason,))",
    ),
    Mutant(
        "any answer passes",
        "safety.py",
        "    return Gate(name, outcome, ()",
        "    return Gate(name, Outcome.PASS, ()",
    ),
    Mutant(
        "a missing gate passes",
        "safety.py",
        "        if name not in seen:\n            eligible = False\n",
        "        if name not in seen:\n",
    ),
    Mutant(
        "a malformed gate passes",
        "safety.py",
        "        if not isinstance(gate, Gate):\n            eligible = False\n",
        "        if not isinstance(gate, Gate):\n",
    ),
    Mutant("exclusion is ignored", "safety.py", '_gate("exclusion", excluded is False,', '_gate("exclusion", True,'),
    Mutant(
        "an unknown exclusion is none",
        "safety.py",
        '_gate("exclusion", excluded is False,',
        '_gate("exclusion", excluded is not True,',
    ),
    Mutant("a lens needs no pack", "safety.py", '_gate("pack", pack_resolves is True,', '_gate("pack", True,'),
    Mutant("a lens needs an active subject", "safety.py", 'state in ("active", "lens_only"),', 'state == "active",'),
    Mutant("any subject lends", "safety.py", 'state in ("active", "lens_only"),', 'state != "broken",'),
    Mutant(
        "an unproved exemption passes the gate",
        "safety.py",
        "needed = 1 if single_dimension_proved is True else 2",
        "needed = 1 if single_dimension_proved else 2",
    ),
    Mutant(
        "made-up dimensions are held",
        "safety.py",
        "held = {name for name in dimensions if name in DIMENSIONS}",
        "held = set(dimensions)",
    ),
    Mutant(
        "the final gate keeps everyone",
        "safety.py",
        "if name in gates and eligibility(gates[name], ()).eligible)",
        "if name in gates)",
    ),
    Mutant(
        "the final gate forgives the unknown",
        "safety.py",
        "if name in gates and eligibility(gates[name], ()).eligible)",
        "if eligibility(gates.get(name, ()), ()).eligible)",
    ),
    Mutant("size is not checked", "safety.py", "or facts.size > facts.limit:", "or facts.size > 10**12:"),
    Mutant(
        "authorisation is not checked", "safety.py", "if facts.authorised is not True:", "if facts.authorised is None:"
    ),
    Mutant("a veto must be true", "safety.py", "        if veto is not None:\n", "        if veto:\n"),
    Mutant(
        "a made-up refusal",
        "safety.py",
        'next((item for item in REFUSAL_CODES if item == code), "policy_forbids")',
        "code  # type: ignore[assignment]",
    ),
)

SELECTION = (
    Mutant(
        "margin exclusive",
        "routing/order.py",
        "if standing.scored.total >= lowest)",
        "if standing.scored.total > lowest)",
    ),
    Mutant(
        "a rival need not be suggestible",
        "routing/order.py",
        "for standing in suggestible[1:] if",
        "for standing in standings if standing is not winner and",
    ),
    Mutant(
        "the winner need not be suggestible",
        "routing/order.py",
        "suggestible = [standing for standing in standings if standing.suggestible]",
        "suggestible = list(standings)",
    ),
    Mutant(
        "priority before score",
        "routing/order.py",
        "(-item.total, priority if type(priority) is int else _LAST_PRIORITY, item.cost, item.route.id)",
        "(priority if type(priority) is int else _LAST_PRIORITY, -item.total, item.cost, item.route.id)",
    ),
    Mutant(
        "priority upside down",
        "routing/order.py",
        "priority if type(priority) is int else _LAST_PRIORITY,",
        "-priority if type(priority) is int else _LAST_PRIORITY,",
    ),
    Mutant(
        "cost does not break ties",
        "routing/order.py",
        "_LAST_PRIORITY, item.cost, item.route.id)",
        "_LAST_PRIORITY, 0, item.route.id)",
    ),
    Mutant("duplicates are fine", "routing/order.py", "        if id_ in seen:\n", "        if False:\n"),
    Mutant(
        "threshold exclusive",
        "routing/subjects.py",
        "if scored.total < limits.suggest_threshold:",
        "if scored.total <= limits.suggest_threshold:",
    ),
    Mutant(
        "two dimensions are not asked for",
        "routing/subjects.py",
        "reasons = () if gate.passed else gate.reasons",
        "reasons = ()",
    ),
    Mutant(
        "a blocked one shows all its evidence as counted",
        "routing/subjects.py",
        "        elif evidence := counted(candidate.subject):\n",
        "        elif (evidence := counted(candidate.subject)) is not None:\n",
    ),
    Mutant(
        "lens threshold exclusive",
        "routing/lenses.py",
        "item.total >= limits.lens_threshold",
        "item.total > limits.lens_threshold",
    ),
    Mutant("a lens is lent for its prior", "routing/lenses.py", "bool(item.dimensions) and item.total", "item.total"),
    Mutant(
        "a lens is lent past its gates",
        "routing/lenses.py",
        "        if not verdict.eligible:\n            withheld.append((lens.id, verdict.reasons))\n            continue\n",
        "",
    ),
    Mutant(
        "a withheld lens leaves no note",
        "routing/lenses.py",
        "            withheld.append((lens.id, verdict.reasons))\n",
        "",
    ),
    Mutant(
        "the runner-up takes the place of the removed",
        "routing/decision.py",
        "        winner = self.winner if self.winner is not None and self.winner.subject not in subjects else None\n",
        "        winner = next((item for item in left(self.ranked) if item.suggestible), None)\n",
    ),
    Mutant(
        "rivals outlive the winner",
        "routing/decision.py",
        "rivals=left(self.rivals) if winner is not None else (),",
        "rivals=left(self.rivals),",
    ),
    Mutant(
        "the final gate is not asked",
        "routing/decision.py",
        "    survivors = final_gate(tuple(gates), gates)\n",
        "    survivors = tuple(gates)\n",
    ),
    Mutant(
        "a part may act behind its final gate",
        "routing/decision.py",
        "for part in candidate.composes), own_gates[candidate.subject])",
        "for part in ()), own_gates[candidate.subject])",
    ),
    Mutant(
        "last checks are not asked",
        "routing/decision.py",
        "*[run_gate(*check) for check in candidate.final_checks]",
        "*[]",
    ),
    Mutant(
        "a part of a kept composite acts by itself",
        "routing/decision.py",
        "            del standings[candidate.subject]\n",
        "            pass\n",
    ),
    Mutant(
        "quoted senses count",
        "scoring/routes.py",
        '            if item.polarity == "asserted":\n                penalties',
        "            if True:\n                penalties",
    ),
    Mutant(
        "without a dimension the others keep their ranks",
        "scoring/breakdown.py",
        "        if name != dimension:\n            total += held // limits.across_divisor**rank\n            rank += 1\n",
        "        if name != dimension:\n            total += held // limits.across_divisor**rank\n        rank += 1\n",
    ),
    Mutant(
        "removed ones are not reported",
        "routing/decision.py",
        "            if candidate.subject in scored\n",
        "            if False\n",
    ),
    Mutant(
        "a score replaces the confirmed subject",
        "routing/decision.py",
        'settled = mode in ("confirmed", "locked") and active_subject != AUTO',
        'settled = mode == "locked" and active_subject != AUTO',
    ),
    Mutant(
        "a score replaces the locked subject",
        "routing/decision.py",
        'settled = mode in ("confirmed", "locked") and active_subject != AUTO',
        'settled = mode == "confirmed" and active_subject != AUTO',
    ),
    Mutant(
        "a locked project asks and names rivals",
        "routing/decision.py",
        "        standing = field.active\n",
        "        standing, rivals = field.active, field.rivals\n",
    ),
    Mutant(
        "a refusal still routes",
        "routing/decision.py",
        "    if refusal is not None:\n        observe",
        "    if refusal is not None and not candidates:\n        observe",
    ),
    Mutant(
        "an answer from outside is taken",
        "routing/decision.py",
        "    if answer not in fact.subjects:\n        return field, (fact,)",
        "    if answer is None or answer not in {item.subject for item in field.ranked}:\n        return field, (fact,)",
    ),
    Mutant(
        "an answer leaves the others in place",
        "routing/decision.py",
        "    return attrs.evolve(field.without(others, blocked), winner=chosen, rivals=()), ()",
        "    return attrs.evolve(field, winner=chosen, rivals=()), ()",
    ),
    Mutant(
        "failures are retried", "routing/decision.py", ".repeated_failure is not False:", ".repeated_failure is None:"
    ),
    Mutant(
        "after failures the runner-up is taken",
        "routing/decision.py",
        "                facts, standing, rivals = (fact,), None, ()",
        "                facts, standing, rivals = (fact,), next(iter(rivals), None), ()",
    ),
    Mutant(
        "a failure question beside the ambiguous one",
        "routing/decision.py",
        "                facts, standing, rivals = (fact,), None, ()",
        "                facts, standing, rivals = (*facts, fact), None, ()",
    ),
    Mutant(
        "nothing is asked of an empty task",
        "routing/decision.py",
        "        if not has_text:\n            facts",
        "        if False:\n            facts",
    ),
    Mutant(
        "a strong neighbour stops borrowing",
        "routing/decision.py",
        "borrowed_lenses=tuple(lens for lens in lens_standings if lens.lent and lens.subject != primary),",
        "borrowed_lenses=tuple(lens for lens in lens_standings if lens.lent and primary == AUTO),",
    ),
    Mutant(
        "others' lenses become the primary's",
        "routing/decision.py",
        "method_lenses=tuple(lens.lens for lens in lens_standings if lens.lent and lens.subject == primary),",
        "method_lenses=tuple(lens.lens for lens in lens_standings if lens.lent),",
    ),
    Mutant(
        "the question's id follows the order", "routing/decision.py", "'+'.join(sorted(offered))", "'+'.join(offered)"
    ),
    Mutant(
        "core gives no reasons",
        "routing/decision.py",
        "            reasons.extend(_core_reasons(",
        "            list(_core_reasons(",
    ),
    Mutant(
        "parts beyond the margin carry a composite",
        "routing/subjects.py",
        "and max(totals) - min(totals) <= limits.margin:",
        "and totals:",
    ),
    Mutant(
        "one suggestible part carries a composite",
        "routing/subjects.py",
        "if all(standing.suggestible for standing in standings) and",
        "if any(standing.suggestible for standing in standings) and",
    ),
    Mutant(
        "a composite's own evidence suffices",
        "routing/subjects.py",
        "if own and all(counted(part) for part in candidate.composes):",
        "if own:",
    ),
    Mutant(
        "its parts' evidence suffices",
        "routing/subjects.py",
        "if own and all(counted(part) for part in candidate.composes):",
        "if all(counted(part) for part in candidate.composes):",
    ),
    Mutant(
        "a composite acts behind its gates",
        "routing/subjects.py",
        "if problem is None and verdict.eligible:",
        "if problem is None:",
    ),
    Mutant(
        "a composite stands beside its parts",
        "routing/subjects.py",
        "left = {subject: standing for subject, standing in standings.items() if subject not in replaced}",
        "left = dict(standings)",
    ),
    Mutant(
        "a weak composite replaces its parts",
        "routing/subjects.py",
        "and standings[candidate.subject].suggestible\n",
        "\n",
    ),
    Mutant(
        "an unknown size fits",
        "routing/order.py",
        "elif candidate.tokens is not None and 0 <= candidate.tokens <= left:",
        "elif (candidate.tokens or 0) <= left:",
    ),
    Mutant("the budget is not used up", "routing/order.py", "            left -= candidate.tokens\n", ""),
    Mutant(
        "pinned resources are free",
        "routing/order.py",
        "        left -= sum(candidate.tokens or 0 for candidate in candidates if candidate.pinned)\n",
        "        left -= 0\n",
    ),
    Mutant(
        "pinned resources may be left out",
        "routing/order.py",
        "if candidate.pinned or left is None:",
        "if left is None:",
    ),
)

SESSION_AND_QUESTIONS = (
    Mutant("four options", "clarification.py", "eligible[: limits.clarification_options]", "eligible"),
    Mutant(
        "options as the fact lists them",
        "clarification.py",
        "eligible = [standing.subject for standing in routing.ranked if standing.subject in fact.subjects]",
        "eligible = list(fact.subjects)",
    ),
    Mutant(
        "one round more",
        "clarification.py",
        "before >= limits.clarification_rounds",
        "before > limits.clarification_rounds",
    ),
    Mutant(
        "an answered question is repeated",
        "clarification.py",
        "if fact.kind != kind or fact.id in answered:",
        "if fact.kind != kind:",
    ),
    Mutant(
        "a question beside a refusal",
        "clarification.py",
        "    if routing.refusal is not None:\n        return None\n",
        "",
    ),
    Mutant(
        "facts in the order of arrival",
        "clarification.py",
        "            if fact.kind != kind or fact.id in answered:",
        "            if fact.id in answered:",
    ),
    Mutant(
        "an answer may be anything", "clarification.py", "    if options and subject not in options:", "    if False:"
    ),
    Mutant("an answer weighs", "clarification.py", "        weight=Ppm(0),\n", "        weight=Ppm(200_000),\n"),
    Mutant(
        "a full session asks on",
        "clarification.py",
        "if fact.id not in asked and len(asked) >= limits.clarification_facts:",
        "if False:",
    ),
    Mutant("another session counts", "session.py", "    if state.session != context.session:\n        return 0\n", ""),
    Mutant("another task counts", "session.py", "        and event.context.signature == context.signature\n", ""),
    Mutant(
        "another safety context counts",
        "session.py",
        "        and event.context.safety_context == context.safety_context\n",
        "",
    ),
    Mutant("another route counts", "session.py", "        event.subject == route\n        and ", "        "),
    Mutant(
        "another session's events are folded",
        "session.py",
        "    if event.context.session != state.session:\n        return state\n",
        "",
    ),
    Mutant(
        "no expiry",
        "session.py",
        "    loss = turns * -(-limits.session_cap // limits.session_expiry)\n",
        "    loss = 0\n",
    ),
    Mutant(
        "the advisory grows with age",
        "session.py",
        "return max(0, balance - loss) if balance > 0 else min(0, balance + loss)",
        "return balance + loss if balance > 0 else balance - loss",
    ),
    Mutant(
        "a failure helps",
        "session.py",
        'limits.session_step if event.kind == "success" else -limits.session_step',
        "limits.session_step",
    ),
    Mutant(
        "the balance is not capped",
        "session.py",
        "        balance = max(-limits.session_cap, min(limits.session_cap, balance))\n",
        "",
    ),
    Mutant(
        "nothing is forgotten", "session.py", "        if len(alike) > limit:\n", "        if len(alike) > 10**9:\n"
    ),
    Mutant(
        "the newest is forgotten",
        "session.py",
        "            del outcomes[alike[0]]",
        "            del outcomes[alike[-1]]",
    ),
    Mutant(
        "turns go back", "session.py", "    turn = max(state.turn, event.context.turn)", "    turn = event.context.turn"
    ),
    Mutant(
        "failures never expire",
        "session.py",
        "        and context.turn - event.context.turn < limits.session_expiry\n",
        "",
    ),
    Mutant(
        "four failures",
        "session.py",
        "return len(failures) >= limits.forced_core_failures",
        "return len(failures) > limits.forced_core_failures",
    ),
    Mutant(
        "free text in a record",
        "session.py",
        "if type(value) is not str or not _IDENTIFIER.fullmatch(value):",
        "if type(value) is not str:",
    ),
    Mutant(
        "an answer does not end the rounds",
        "session.py",
        'more = 1 if event.kind == "asked" else limits.clarification_rounds',
        "more = 1",
    ),
)

DIAGNOSTICS = (
    Mutant(
        "raw text comes out",
        "diagnostics.py",
        "        if self._key is None:\n            raise _RedactionError\n        return digest(value, self._key)",
        "        return value",
    ),
    Mutant("a bare hash", "diagnostics.py", "hmac.new(key, text.encode", 'hmac.new(b"", text.encode'),
    Mutant(
        "any field name",
        "diagnostics.py",
        "            if name not in FIELDS:\n                raise _RedactionError\n",
        "",
    ),
    Mutant(
        "any event name",
        "diagnostics.py",
        "if type(event) is not str or event not in EVENTS:",
        "if type(event) is not str:",
    ),
    Mutant(
        "any integer",
        "diagnostics.py",
        "            if abs(value) > _MAX_INTEGER:\n                raise _RedactionError\n",
        "",
    ),
    Mutant(
        "a text that lies about itself",
        "diagnostics.py",
        "        if type(value) is not str:\n            raise _RedactionError\n",
        "        if not isinstance(value, str):\n            raise _RedactionError\n",
    ),
    Mutant(
        "floats come out",
        "diagnostics.py",
        "if value is None or type(value) is bool:",
        "if value is None or type(value) in (bool, float):",
    ),
    Mutant(
        "cut before redaction",
        "diagnostics.py",
        "        if value in WORDS or (value in self._registry",
        "        value = value[: MAX_FIELD - 1] + TRUNCATED if len(value) > MAX_FIELD else value\n        if value in WORDS or (value in self._registry",
    ),
    Mutant(
        "fields are not cut",
        "diagnostics.py",
        "return value if len(value) <= MAX_FIELD else value[: MAX_FIELD - 1] + TRUNCATED",
        "return value",
    ),
    Mutant(
        "one event more",
        "diagnostics.py",
        "if len(self._events) >= MAX_EVENTS or",
        "if len(self._events) > MAX_EVENTS or",
    ),
    Mutant("payload unlimited", "diagnostics.py", " or self._bytes + size > MAX_PAYLOAD:", ":"),
    Mutant(
        "control characters",
        "diagnostics.py",
        'unicodedata.category(character)[0] not in "CZ"',
        'unicodedata.category(character) != "Cs"',
    ),
    Mutant(
        "a failed redaction is emitted raw",
        "diagnostics.py",
        "        except Exception:  # nothing that was being looked at may break the run that is looked at\n            self.dropped += 1\n",
        "        except Exception:  # nothing that was being looked at may break the run that is looked at\n            self._events.append({'event': event, **fields})\n",
    ),
    Mutant(
        "a failed redaction is not counted",
        "diagnostics.py",
        "        except Exception:  # nothing that was being looked at may break the run that is looked at\n            self.dropped += 1\n",
        "        except Exception:  # nothing that was being looked at may break the run that is looked at\n",
    ),
    Mutant(
        "a raising recorder reaches the decision",
        "diagnostics.py",
        "    except Exception:\n        return\n",
        "    except ZeroDivisionError:\n        return\n",
    ),
    Mutant(
        "a raising sink escapes",
        "diagnostics.py",
        "            except Exception:\n                self.dropped += 1\n",
        "            except ZeroDivisionError:\n                self.dropped += 1\n",
    ),
    Mutant("the sink may change what is kept", "diagnostics.py", "self._sink(dict(kept))", "self._sink(kept)"),
)

GROUPS = {
    "contract": CONTRACT,
    "scorer": SCORER,
    "gates": GATES,
    "selection": SELECTION,
    "session, questions": SESSION_AND_QUESTIONS,
    "diagnostics": DIAGNOSTICS,
}


def run_tests(source: Path, *, invariants: bool, mutated: str = "") -> tuple[bool, str]:
    """Run the tests against a copy, those of the mutated module first; whether they passed, and the first that failed."""
    environment = os.environ | {
        "PYTHONPATH": str(source),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HYPOTHESIS_PROFILE": "mutants",
    }
    files = INVARIANTS if invariants else (*CASES, *(name for name in INVARIANTS if name not in CASES))
    module = Path(mutated).parts[0].removesuffix(".py") if mutated else ""
    ordered = sorted(files, key=lambda name: name != f"test_{module}.py")
    options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:qiongli", "--no-header", "--tb=no", "-rf"]
    if invariants:
        options += ["-k", NOT_INVARIANT]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *(str(TESTS / name) for name in ordered)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=1_800,
        encoding="utf-8",
    )
    if done.returncode == 0:
        return True, ""
    if done.returncode not in (1, 2):
        # Neither a failing test nor a module that cannot be imported: the run itself is at fault, and nothing is killed.
        raise RuntimeError(f"pytest ended with {done.returncode}: {done.stdout[-2_000:]}{done.stderr[-2_000:]}")
    failed = re.search(r"^(?:FAILED|ERROR) \S*?([^/\s]+\.py\S*)", done.stdout, re.MULTILINE)
    return False, failed[1] if failed else f"exit {done.returncode}"


def imported_from(source: Path) -> Path:
    """Where `import qiongli` leads with the copy in front."""
    code = "import pathlib, qiongli; print(pathlib.Path(qiongli.__file__).resolve())"
    environment = os.environ | {"PYTHONPATH": str(source)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True, encoding="utf-8"
    )
    return Path(done.stdout.strip())


def main(arguments: list[str] | None = None) -> int:
    """Run the chosen mutants and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="only mutants whose group or kind contains this text")
    parser.add_argument("--invariants", action="store_true", help="only the property tests")
    parser.add_argument("--list", action="store_true", help="check that every mutant applies, and run nothing")
    options = parser.parse_args(arguments)

    chosen = [
        (group, mutant)
        for group, mutants in GROUPS.items()
        for mutant in mutants
        if options.only.casefold() in f"{group}: {mutant.kind}".casefold()
    ]
    stale = []
    for _, mutant in chosen:
        try:
            mutant.applied((PACKAGE / mutant.file).read_text(encoding="utf-8"))
        except LookupError as error:
            stale.append(str(error))
    for line in stale:
        print(line, file=sys.stderr)
    if stale:
        return 2
    if options.list:
        for group, mutant in chosen:
            print(f"{group:20} {mutant.file:24} {mutant.kind}")
        return 0

    survivors = 0
    with tempfile.TemporaryDirectory(prefix="qiongli-mutants-") as folder:
        copy = Path(folder).resolve() / "qiongli"
        shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
        if copy not in imported_from(copy.parent).parents:
            print("the tests would not see the copy of the package", file=sys.stderr)
            return 2
        passed, failed = run_tests(copy.parent, invariants=options.invariants)
        if not passed:
            print(f"the tests fail without any mutant: {failed}", file=sys.stderr)
            return 2
        print(f"{'group':20} {'mutant':50} {'seconds':>7}  killed by")
        for group, mutant in chosen:
            target = copy / mutant.file
            whole = target.read_text(encoding="utf-8")
            target.write_text(mutant.applied(whole), encoding="utf-8")
            started = time.monotonic()
            passed, failed = run_tests(copy.parent, invariants=options.invariants, mutated=mutant.file)
            target.write_text(whole, encoding="utf-8")
            survivors += passed
            verdict = "SURVIVED" if passed else failed
            print(f"{group:20} {mutant.kind:50} {time.monotonic() - started:7.1f}  {verdict}", flush=True)
    print(f"\n{len(chosen) - survivors} of {len(chosen)} mutants killed")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
