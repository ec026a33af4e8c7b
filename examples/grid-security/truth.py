"""The truth: a full AC study of every single outage in every case. Needs pandapower and pypowsybl."""

import json
import warnings

import numpy as np
from cases import Case, draw
from network import FILE, Network, islands, load
from study import KEPT, LOST


def keep() -> None:
    """The study of all cases, into truth.npz."""
    grid = convert()
    network = load()
    drawn = draw(network)
    found = [study(grid, network, case) for case in drawn]
    np.savez_compressed(
        KEPT,
        base=np.array([min(round(1000 * base), LOST) for base, _ in found], np.uint16),
        severity=np.array([severity for _, severity in found]),
        demand=np.array([case.load_p.sum() for case in drawn], np.float32),
    )


def convert():
    """The network from pandapower: as numbers into network.json, and as pypowsybl's object."""
    warnings.filterwarnings("ignore")
    import pandapower.networks
    import pypowsybl.network

    grid = pandapower.networks.case39()
    line, trafo, vn = grid.line, grid.trafo, grid.bus.vn_kv
    kv = vn[line.from_bus].to_numpy()
    numbers = {
        "start": [*line.from_bus, *trafo.hv_bus],
        "end": [*line.to_bus, *trafo.lv_bus],
        "x": [*(line.x_ohm_per_km * line.length_km * 100 / kv**2), *(trafo.vk_percent / trafo.sn_mva)],
        "limit": [*(np.sqrt(3) * kv * line.max_i_ka), *trafo.sn_mva],
        "lines": len(line),
        "load_bus": [*grid.load.bus], "load_p": [*grid.load.p_mw], "load_q": [*grid.load.q_mvar],
        "gen_bus": [*grid.gen.bus], "gen_p": [*grid.gen.p_mw], "gen_max": [*grid.gen.max_p_mw],
        "slack": int(grid.ext_grid.bus.iloc[0]),
    }  # fmt: skip
    FILE.write_text(json.dumps(numbers, default=lambda number: round(float(number), 6)), encoding="utf-8")
    return pypowsybl.network.convert_from_pandapower(grid)


def study(grid, network: Network, case: Case) -> tuple[float, np.ndarray]:
    """The highest loading before any outage, and after each: permille of a limit, LOST, 0 where already out.

    A line's limit is a current. The converted transformers have none, so theirs is set here: their rated
    power at their rated voltage, as pandapower reckons.
    """
    import pypowsybl.loadflow
    import pypowsybl.security

    names, amperes = _branches(grid, network)
    _set(grid, names, network, case)
    analysis = pypowsybl.security.create_analysis()
    live = [k for k in range(len(names)) if k != case.branch_out]
    for k in live:
        analysis.add_single_element_contingency(names[k], str(k))
    analysis.add_monitored_elements(branch_ids=names)
    result = analysis.run_ac(
        grid, pypowsybl.loadflow.Parameters(distributed_slack=False, use_reactive_limits=False)
    )
    flows = result.branch_results.reset_index()
    flows["loading"] = np.fmax(
        flows.i1 / flows.branch_id.map(dict(zip(names, amperes[:, 0], strict=True))),
        flows.i2 / flows.branch_id.map(dict(zip(names, amperes[:, 1], strict=True))),
    )
    worst = flows.groupby("contingency_id").loading.max()
    if result.pre_contingency_result.status.name != "CONVERGED":
        return LOST / 1000, np.full(len(names), LOST, np.uint16)
    severity = np.zeros(len(names), np.uint16)
    for k in live:
        done = result.post_contingency_results[str(k)].status.name == "CONVERGED"
        cut = islands(network, [k, case.branch_out])
        severity[k] = min(round(1000 * worst[str(k)]), LOST - 1) if done and not cut else LOST
    return float(worst[""]), severity


def _branches(grid, network):
    """Names of branches in the network's order, and the limits of both their sides in ampere."""
    lines, trafos = grid.get_lines(), grid.get_2_windings_transformers()
    side = 1e3 * network.limit / np.sqrt(3)
    kv = np.full((len(network.x), 2), 345.0)
    kv[network.lines :] = trafos[["rated_u1", "rated_u2"]].to_numpy()
    kv[network.lines :, 0] = 345.0  # rated_u1 carries the tap; the limit is at the bus's rated voltage
    return [*lines.index, *trafos.index], side[:, None] / kv


def _set(grid, names, network, case):
    """Put one case into the network."""
    grid.update_loads(id=list(grid.get_loads().index), p0=case.load_p, q0=case.load_q)
    units = list(grid.get_generators().index)[: len(case.gen_p)]
    on = [k != case.gen_out for k in range(len(units))]
    grid.update_generators(id=units, target_p=case.gen_p, connected=on)
    on = np.arange(len(names)) != case.branch_out
    cut = network.lines
    grid.update_lines(id=names[:cut], connected1=on[:cut], connected2=on[:cut])
    grid.update_2_windings_transformers(id=names[cut:], connected1=on[cut:], connected2=on[cut:])
