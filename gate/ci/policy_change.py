"""What a change does to the policy that judges it, for the person who reviews the change."""

from __future__ import annotations

from dataclasses import dataclass

from gate.policy import source
from gate.policy.load import LoadedPolicy, loads
from gate.policy.weaker import weaknesses
from gate.values import GateError


@dataclass(frozen=True, slots=True)
class PolicyChange:
    """headline: one sentence. details: each deciding key that differs. weakens: any of them asks less."""

    headline: str
    details: tuple[str, ...] = ()
    weakens: bool = False


def policy_change(judging: LoadedPolicy, checked_out: str, words: str) -> PolicyChange | None:
    """How the checked-out policy file differs from the one that judged; None where it does not."""
    try:
        data = source.read(checked_out)
        if data == judging.text.encode("utf-8", "surrogatepass"):
            return None
        new = loads(source.decode(data, judging.path), judging.path)
    except GateError as error:
        if error.code == "policy_missing":
            return PolicyChange(
                f"This change removes the policy; it was judged by that of {words}.", weakens=True
            )
        return PolicyChange(
            f"This change makes the policy invalid ({error}); it was judged by that of {words}."
        )
    changes = weaknesses(new.policy, judging.policy)
    if not changes:
        return PolicyChange(f"This change edits the policy, but nothing that decides (judged by {words}).")
    weaker = sum(change.weakens for change in changes)
    asks = f"{weaker} of {len(changes)} changed keys weaken it" if weaker else "no key weakens it"
    return PolicyChange(
        f"This change edits the policy ({asks}); it was judged by that of {words}. "
        "The edit takes effect after the merge.",
        tuple(change.message for change in changes),
        weaker > 0,
    )
