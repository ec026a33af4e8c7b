"""The pairer for tables larger than one machine: read, checked and matched in Apache Spark.

Workers run the readers' own code on the rows they have. What comes back to the driver is how often each
combination of both sides' results occurs, and the ids that reports and histories name; from these the driver
makes the two tables that the pairer of files would have read, and pairs them by the very same code.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from gate.artifacts.build import similar_ids
from gate.artifacts.content import open_content
from gate.artifacts.digest import header
from gate.artifacts.ids import refuse_duplicates
from gate.artifacts.opening import found_here
from gate.artifacts.outcome import unknown_words
from gate.artifacts.records import paths_of
from gate.artifacts.run_words import DEEPEST, is_evidence
from gate.artifacts.scoring_columns import bar_columns
from gate.artifacts.sort import sorted_rows
from gate.artifacts.survey import looks_like_cluster
from gate.artifacts.table import Ascending, ItemTable, Missing, Source, Unread
from gate.artifacts.texts import objects
from gate.pairing.local import paired
from gate.pairing.model import Artifact, Paired, PairingRules
from gate.pairing.spark_rows import Wanted, parts_of_identity, pieces, read_part
from gate.safe import examples, quoted
from gate.stats.pairs import tidy
from gate.values import GateError

ALL_NAMED: Final = 20_000
"""Up to so many items all rows come back: a history marks each id of a set of this size."""
MOST_NAMED: Final = 5_000
"""Changed items of a metric and direction whose ids come back: those that a report can name."""
MOST_ODD: Final = 100_000
"""Failed, missing or one-sided items that come back by name."""
NAMELESS: Final = "(not named)"
"""In the place of an id that did not come back."""
ROWS_A_PIECE: Final = 500_000
"""Sorted rows of which one column passes through the driver at a time."""
MOST_COMBINATIONS: Final = 1_000_000
"""Distinct combinations of results that the driver takes."""
_PLAIN: Final = {"string", "boolean", "byte", "short", "integer", "long", "float", "double"}
_TABLE: Final = re.compile(r"\w+(\.\w+){0,2}")
_SCHEMA: Final = (
    "position long, id string, failed boolean, values array<double>, cluster string, texts array<string>, "
    "facts string"
)


@dataclass(frozen=True, slots=True)
class _Side:
    """One side as Spark has it. rows: a frame of :class:`Row`; table: all but its rows; n: how many."""

    name: str
    wanted: Wanted
    rows: Any
    table: ItemTable
    n: int
    plain: bool
    ids_digest: str = ""


def pair_tables(baseline: Artifact | None, candidate: Artifact, rules: PairingRules) -> Paired:
    """Parquet files, folders of them or tables (the ``Pairer`` protocol says the rest)."""
    if baseline is None:
        raise unsupported("a candidate without a baseline")
    with _faults():
        session = _session()
        sides = tuple(
            _read(session, name, one) for name, one in (("baseline", baseline), ("candidate", candidate))
        )
        first, second = _with_sources(*sides)
        found = paired(_tables(first, second, rules), baseline, candidate, rules)
        return replace(found, cautions=(*found.cautions, *_unseen_clusters(second)))


def unsupported(what: str) -> GateError:
    """The refusal of what Spark does not do here, before anything is computed."""
    return GateError(
        "spark_unsupported",
        f"--engine spark does not serve {what}",
        help="leave --engine out (results as files), or take it out of the policy or the data; "
        "docs/spark.md lists what is served",
    )


def _session() -> Any:
    try:
        from pyspark.sql import SparkSession  # noqa: PLC0415 - an extra, and slow to import
    except ImportError:
        raise GateError(
            "extra_missing", "pyspark is not installed", help="pip install 'paired-gate[spark]'"
        ) from None
    builder = SparkSession.builder.appName("gate").config("spark.sql.caseSensitive", "true")
    session = builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


@contextmanager
def _faults() -> Iterator[None]:
    """Whatever Spark raises is one line for the user."""
    try:
        yield
    except GateError:
        raise
    except Exception as error:
        lines = str(error).strip().splitlines() or [""]
        text = lines[0].encode("unicode_escape").decode("ascii")[:200]
        raise GateError(
            "spark_failed",
            f"Spark could not do its part ({type(error).__name__}: {text})",
            help="look into Spark's own log; nothing was decided and nothing was recorded as one",
        ) from error


def _read(session: Any, name: str, artifact: Artifact) -> _Side:
    from pyspark import StorageLevel  # noqa: PLC0415
    from pyspark.sql import functions as F  # noqa: PLC0415, N812

    frame, source = _opened(session, artifact.path)
    wanted = _wanted(frame, artifact)
    part = F.spark_partition_id().alias("part")
    sizes = {row["part"]: row["count"] for row in frame.groupBy(part).count().collect()}
    if not sizes:
        raise GateError("no_items", "there are no items in it", where=artifact.path)
    starts = [sum(n for other, n in sizes.items() if other < k) for k in range(max(sizes) + 2)]
    columns = [F.col(f"`{column}`") for column in wanted.columns]
    read = frame.select(columns).rdd.mapPartitionsWithIndex(read_part(wanted, starts))
    rows = session.createDataFrame(read, _SCHEMA, verifySchema=False).persist(StorageLevel.MEMORY_AND_DISK)
    told = [json.loads(row.facts) for row in rows.where("facts is not null").sort("position").collect()]
    rows = rows.where("facts is null").drop("facts")
    for one in told:
        if "error" in one:
            code, message, where, advice = one["error"]
            raise GateError(code, message, where=where, help=advice)
    n = sum(sizes.values())
    plain = all(one["plain"] for one in told)
    _refuse_doubled(rows, artifact.path, plain=plain)
    table = _merged(told, source, wanted, n, _similar(rows, plain=plain))
    return _with_digests(_Side(name, wanted, rows, table, n, plain))


def _opened(session: Any, path: str) -> tuple[Any, Source]:
    """The frame of a regular file, of a folder or an address, or of a table by its name."""
    here = found_here(path)
    if here is not None and here[1]:
        return session.read.parquet(f"file://{here[0]}"), Source(path, "parquet", "", 0)
    if here is not None:
        content = open_content(path)
        try:
            if not content.head.startswith(b"PAR1"):
                raise GateError("wrong_format", "the file is no Parquet", where=path, help="write Parquet")
            source = Source(path, "parquet", content.sha256, content.bytes_on_disk)
        finally:
            content.close()
        return session.read.parquet(f"file://{here[0]}"), source
    if "://" in path:
        return session.read.parquet(path), Source(path, "parquet", "", 0)
    if not _TABLE.fullmatch(path) or not session.catalog.tableExists(path):
        raise GateError("artifact_not_found", "there is no such file, folder or table", where=path)
    return session.table(path), Source(path, "table", "", 0)


def _wanted(frame: Any, artifact: Artifact) -> Wanted:
    """What is read of it. Errors: what the reader of files would see in it, and this one would not."""
    request, kinds = artifact.wanted, {field.name: field.dataType for field in frame.schema.fields}
    if request.format not in {"auto", "parquet"} or request.system is not None:
        raise unsupported("artifacts.format and artifacts.system")
    if request.where or request.votes or request.labels or request.repeat is not None or artifact.runs:
        raise unsupported("repeated runs, votes, artifacts.where, --labels or several baselines")
    flat = tuple(_flat(kinds))
    paths = dict.fromkeys(paths_of(request).values())
    deep = [name for name in flat if name not in kinds and (is_evidence(name) or name in paths)]
    bars = bar_columns(flat, request)
    if deep or bars:
        raise unsupported(f"columns that say how runs ended or were scored there ({examples(deep or bars)})")
    columns = [name for name in kinds if name in paths or is_evidence(name)]
    odd = [name for name in columns if kinds[name].typeName() not in _PLAIN]
    texts = [request.mapping.get(name, name) for name in (*request.columns, request.cluster) if name]
    odd += [name for name in texts if name in kinds and kinds[name].typeName() in {"float", "double"}]
    if odd:
        raise unsupported(f"the types of the columns {examples(odd)}: cast them to text or to numbers")
    return Wanted(artifact.path, request, tuple(columns), frozenset(filter(is_evidence, columns)), flat)


def _flat(kinds: Mapping[str, Any], depth: int = DEEPEST) -> Iterator[str]:
    """Dotted names of all columns and fields."""
    for name, kind in kinds.items():
        if kind.typeName() == "struct" and depth > 1:
            yield from (
                f"{name}.{field}" for field in _flat({f.name: f.dataType for f in kind.fields}, depth - 1)
            )
        elif kind.typeName() not in {"array", "map"}:
            yield name


def _refuse_doubled(rows: Any, path: str, *, plain: bool) -> None:
    """Ids that occur twice, as written or in NFC: their rows come back, and are refused as a file's are."""
    from pyspark.sql import functions as F  # noqa: PLC0415, N812

    normal = (
        F.col("id") if plain else F.udf(lambda text: unicodedata.normalize("NFC", text), useArrow=False)("id")
    )
    known = rows.select("id", "position", normal.alias("normal"))
    twice = known.groupBy("normal").count().where("count > 1").select("normal")
    found = known.join(twice, "normal", "left_semi").sort("position").limit(MOST_ODD).collect()
    ids = [row.id for row in found]
    if ids:
        where = [f"{path} (row {row.position + 1})" for row in found]
        refuse_duplicates(ids, None, sorted_rows(ids, None), where.__getitem__)


def _similar(rows: Any, *, plain: bool) -> list[tuple[str, str]]:
    """The caution for ids that a person would take for one another."""
    from pyspark.sql import functions as F  # noqa: PLC0415, N812

    if plain:
        return []
    fold = F.udf(lambda text: unicodedata.normalize("NFKC", text).casefold().strip(), useArrow=False)
    known = rows.select("id", fold("id").alias("fold"))
    twice = known.groupBy("fold").count().where("count > 1").select("fold")
    near = [row.id for row in known.join(twice, "fold", "left_semi").sort("id").limit(MOST_ODD).collect()]
    return [similar_ids(near)] if near else []


def _merged(
    told: Sequence[Mapping[str, Any]], source: Source, wanted: Wanted, n: int, similar: list[tuple[str, str]]
) -> ItemTable:
    """What the parts say, as one table without its rows."""
    none = objects([])
    has = [name for name in wanted.request.metrics if all(name in one["values"] for one in told)]
    columns = [name for name in wanted.request.columns if all(name in one["columns"] for one in told)]
    unread = _unread(told)
    own = dict.fromkeys(tuple(c) for one in told for c in one["cautions"])
    cautions = [c for c in own if c[0] not in {"similar_ids", "status_unknown"}]
    return ItemTable(
        source=source,
        ids=none,
        values={name: np.zeros(0) for name in has},
        missing={name: _gaps([one["missing"][name] for one in told]) for name in has},
        failed=np.zeros(0, dtype=np.bool_),
        failures_told=any(one["failures_told"] for one in told),
        clusters=None if wanted.request.cluster is None else none,
        columns=dict.fromkeys(columns, none),
        cautions=(*similar, *cautions, *unknown_words(unread, n)),
        unread=unread,
    )


def _gaps(parts: Sequence[Mapping[str, Any]]) -> Missing:
    shown = [tuple(example) for part in parts for example in part["examples"]]
    return Missing(sum(part["count"] for part in parts), tuple(shown[:5]))


def _unread(told: Sequence[Mapping[str, Any]]) -> tuple[Unread, ...]:
    """Of one column the words of all parts, and of all runs those that did not fail."""
    runs = sum(one["runs"] for one in told)
    words: dict[tuple[str, bool, bool], Counter[str]] = {}
    for one in (each for part in told for each in part["unread"]):
        key = (one["column"], one["by_word"], one["reserved"])
        words.setdefault(key, Counter()).update(one["words"])
    return tuple(
        Unread(column, found, runs, by_word=by_word, reserved=reserved)
        for (column, by_word, reserved), found in words.items()
    )


def _with_digests(side: _Side) -> _Side:
    """Both digests, and that of the ids, from the rows as Spark sorts them: a part of a column at a time."""
    from pyspark import StorageLevel  # noqa: PLC0415

    request, table = side.wanted.request, side.table
    pieces_of_ids = side.n // ROWS_A_PIECE + 1  # each is a job of its own for every column
    ranged = side.rows.repartitionByRange(pieces_of_ids, "id").sortWithinPartitions("id")
    ordered = ranged.persist(StorageLevel.MEMORY_AND_DISK)
    left_out = {"read": request.beside, "identity": request.watched | request.shown}
    digests, ids = {}, hashlib.sha256()
    for what, names in left_out.items():
        columns, metrics = ([n for n in found if n not in names] for found in (table.columns, table.values))
        shape = header(columns, metrics, side.n, repeated=False, clustered=table.clusters is not None)
        digests[what] = hashlib.sha256(shape)
    for at, (name, turn) in enumerate(parts_of_identity(side.wanted, table)):
        used = [d for what, d in digests.items() if name.partition(" ")[2] not in left_out[what]]
        for piece in ordered.rdd.mapPartitions(pieces(turn)).toLocalIterator():
            for digest in (*used, ids) if at == 0 else used:
                digest.update(piece)
    ordered.unpersist()
    deciding, read = (digests[what].hexdigest() for what in ("identity", "read"))
    return replace(
        side, table=replace(table, identity=deciding, read_digest=read), ids_digest=ids.hexdigest()
    )


def _with_sources(first: _Side, second: _Side) -> tuple[_Side, _Side]:
    """Of tables no byte is known: that they hold other results is then all that tells them apart."""
    if first.table.source.sha256 and second.table.source.sha256:
        return first, second
    sides = (
        replace(s, table=replace(s.table, source=replace(s.table.source, sha256=s.table.identity)))
        for s in (first, second)
    )
    return next(sides), next(sides)


def _tables(first: _Side, second: _Side, rules: PairingRules) -> tuple[ItemTable, ItemTable]:
    """Both sides as the reader of files has them, as far as any number or name of a report depends on it."""
    if max(first.n, second.n) <= ALL_NAMED:
        return _whole(first), _whole(second)
    if any(rule.made for rule in rules.metrics.values()):
        raise unsupported(f"metrics of labels or of failed runs on more than {ALL_NAMED} items")
    if rules.show:
        raise unsupported(f"show on more than {ALL_NAMED} items")
    _refuse_one_sided(first, second, rules)
    return _reduced(first, second, rules)


def _whole(side: _Side) -> ItemTable:
    return _filled(side, side.rows.sort("position").collect())


def _filled(side: _Side, rows: Sequence[Any]) -> ItemTable:
    values = {
        name: np.array([row["values"][at] for row in rows], dtype=np.float64)
        for at, name in enumerate(side.wanted.metrics)
        if name in side.table.values
    }
    columns = {
        name: objects([row["texts"][at] for row in rows])
        for at, name in enumerate(side.wanted.texts)
        if name in side.table.columns
    }
    return replace(
        side.table,
        ids=objects([row["id"] for row in rows]),
        failed=np.array([row["failed"] for row in rows], dtype=np.bool_),
        values={name: values[name] for name in side.table.values},
        columns={name: columns[name] for name in side.table.columns},
        clusters=None if side.table.clusters is None else objects([row["cluster"] for row in rows]),
    )


def _refuse_one_sided(first: _Side, second: _Side, rules: PairingRules) -> None:
    """Ids of one side only come back, and are refused as those of files are."""
    if first.ids_digest == second.ids_digest:
        return
    if rules.missing != "error":
        raise unsupported(f"items on one side only with items.missing, on more than {ALL_NAMED} items")
    one, other = first.rows.select("id", "position"), second.rows.select("id", "position")
    common = one.join(other, "id", "left_semi").limit(1).collect()
    tables = []
    for mine, others, side in ((one, other, first), (other, one, second)):
        only = mine.join(others, "id", "left_anti").sort("position").limit(MOST_ODD + 1).collect()
        if len(only) > MOST_ODD:
            raise GateError(
                "unmatched_ids",
                f"the two sides do not hold the same items (more than {MOST_ODD} only in the {side.name}: "
                f"{examples([row['id'] for row in only[:5]])})",
                where=side.wanted.path,
                help="score both systems on the same items",
            )
        ids = objects([row["id"] for row in (*common, *only)])
        empty = replace(side.table, ids=ids, failed=np.zeros(len(ids), np.bool_), values={}, columns={})
        tables.append(replace(empty, clusters=None))
    from gate.pairing import pair  # noqa: PLC0415

    pair(tables[0], tables[1], replace(rules, metrics={}))
    raise AssertionError("ids of one side only are refused")


def _reduced(first: _Side, second: _Side, rules: PairingRules) -> tuple[ItemTable, ItemTable]:
    """Rows that a report may name as they are, in the order of their ids; of all others, how many alike."""
    from pyspark import StorageLevel  # noqa: PLC0415
    from pyspark.sql import functions as F  # noqa: PLC0415, N812

    keys = ["failed", "values", "cluster", "texts"]
    left, right = (
        side.rows.select("id", *(F.col(key).alias(f"{mark}_{key}") for key in keys))
        for side, mark in ((first, "b"), (second, "c"))
    )
    both = left.join(right, "id").persist(StorageLevel.MEMORY_AND_DISK)
    names = [f"{mark}_{key}" for mark in "bc" for key in keys]
    counted = both.groupBy(names).agg(F.count(F.lit(1)).alias("times"), F.min("id").alias("id"))
    alike = counted.limit(MOST_COMBINATIONS + 1).collect()
    if len(alike) > MOST_COMBINATIONS:
        raise unsupported(
            f"more than {MOST_COMBINATIONS} distinct combinations of results (continuous metrics, many "
            "clusters of many kinds)"
        )
    wanted = _named(both, alike, first, second, rules)
    named = {row["id"]: row for row in wanted}
    key_of = {_key(row, names): row["times"] for row in alike}
    for row in named.values():
        key_of[_key(row, names)] -= 1
    last = max(named)
    head = [named[item] for item in sorted(named) if item != last]
    rest = [(row, key_of[_key(row, names)]) for row in alike]
    both.unpersist()
    shown = [*head, *(row for row, _ in rest), named[last]]
    times = np.array([*(1 for _ in head), *(n for _, n in rest), 1], dtype=np.int64)
    nameless = np.array([*(False for _ in head), *(True for _ in rest), False])
    sides = ((first, "b"), (second, "c"))
    made = (_repeated(side, mark, shown, times, nameless, first.ids_digest) for side, mark in sides)
    return next(made), next(made)


def _key(row: Any, names: Sequence[str]) -> str:
    return repr([row[name] for name in names])


def _repeated(
    side: _Side, mark: str, rows: Sequence[Any], times: Any, nameless: Any, digest: str
) -> ItemTable:
    found = _filled(
        side,
        [
            {
                "id": NAMELESS if hidden else row["id"],
                **{key: row[f"{mark}_{key}"] for key in ("failed", "values", "cluster", "texts")},
            }
            for row, hidden in zip(rows, nameless.tolist(), strict=True)
        ],
    )
    return replace(
        found,
        ids=np.repeat(found.ids, times),
        failed=np.repeat(found.failed, times),
        values={name: np.repeat(column, times) for name, column in found.values.items()},
        columns={name: np.repeat(column, times) for name, column in found.columns.items()},
        clusters=None if found.clusters is None else np.repeat(found.clusters, times),
        ascending=Ascending(np.arange(int(times.sum()), dtype=np.int64), digest),
    )


def _named(both: Any, alike: Sequence[Any], first: _Side, second: _Side, rules: PairingRules) -> list[Any]:
    """The first and the last id, one of every combination, all that is odd, and the largest changes."""
    from pyspark.sql import functions as F  # noqa: PLC0415, N812

    ends = both.agg(F.min("id"), F.max("id")).collect()[0]
    found: list[Any] = both.where(F.col("id").isin(list(ends))).collect()
    found += alike
    odd = "b_failed or c_failed or exists(b_values, v -> isnan(v)) or exists(c_values, v -> isnan(v))"
    strange = both.where(odd).sort("id").limit(MOST_ODD + 1).collect()
    if len(strange) > MOST_ODD:
        raise unsupported(f"more than {MOST_ODD} items with failed runs or missing values")
    found += strange
    for name, rule in rules.metrics.items():
        if rule.decides and name in first.table.values and name in second.table.values:
            found += _largest(both, alike, first.wanted.metrics.index(name), second, name, rule.sign)
    return found


def _largest(both: Any, alike: Sequence[Any], at: int, second: _Side, name: str, sign: float) -> list[Any]:
    """The items that changed most in either direction, then by id, as a report names them."""
    from pyspark.sql import functions as F  # noqa: PLC0415, N812

    other = second.wanted.metrics.index(name)
    pairs = sorted({(row["b_values"][at], row["c_values"][other]) for row in alike})
    old, new = (np.array(column, dtype=np.float64) for column in zip(*pairs, strict=True))
    gains = tidy(sign * (new - old), new, old)
    changed = [(*pair, gain) for pair, gain in zip(pairs, gains.tolist(), strict=True) if gain != 0]
    changed = [row for row in changed if not np.isnan(row).any()]
    if not changed:
        return []
    sizes = both.sparkSession.createDataFrame(changed, "old double, new double, gain double")
    here = both.withColumn("old", F.col("b_values")[at]).withColumn("new", F.col("c_values")[other])
    joined = here.join(F.broadcast(sizes), ["old", "new"])
    found: list[Any] = []
    for way in (1, -1):
        some = joined.where(F.col("gain") * way > 0).withColumn("size", F.abs("gain"))
        found += some.sort(F.desc("size"), "id").limit(MOST_NAMED).collect()
    return found


def _unseen_clusters(side: _Side) -> Iterator[tuple[str, str]]:
    """What the reader of files looks into, and is too much to look into here."""
    request = side.wanted.request
    used = {request.mapping.get(name, name) for name in (request.id, *request.columns)}
    seen = [name for name in side.wanted.available if looks_like_cluster(name) and name not in used]
    if request.cluster is None and seen:
        text = f"the column {quoted(seen[0])} may say what items belong to, and was not looked into; "
        yield "cluster_undeclared", text + "items.cluster names none: if they do, a pass is likelier by luck"
