"""What sections of a policy say together is checked although other keys are wrong."""

from __future__ import annotations

from policy_mistakes import BASE, mistakes, of


def test_contradictions_are_told_with_the_other_mistakes() -> None:
    age, label = {"role": "quasi"}, {"role": "label"}
    both = "subject: give either this or `one_row_per_person: true`, not both"
    view = "publish.mode: view needs source.table or source.query on a connection, because a view"
    limit = "suppression.limit: needs privacy.k, because rows of smaller classes are left out"
    labels = "columns: at most one column can be the label, not 'a' and 'b'"
    for keys, expected in [
        ({"subject": "id", "others": "keep"}, ["others", both]),
        ({"subject": "id", "nonsense": 1}, ["nonsense", both]),
        ({"suppression": {"limit": 0.1}, "others": "keep"}, ["others", limit]),
        ({"publish": {"mode": "view", "to": "x"}, "privacy": {"k": 0}}, ["privacy.k", view]),
        ({"columns": {"a": label, "b": label, "c": {}}}, ["columns.c.role", labels]),
    ]:
        lines = of(**keys)
        assert len(lines) == len(expected)
        assert all(line.startswith(start) for line, start in zip(lines, expected, strict=True))
    # What the mistakes may have caused is not told.
    for document, expected in [
        ({"columns": {"age": age}, "subjct": "id"}, ["subjct"]),
        ({"columns": {"age": age}, "subject": 5}, ["subject"]),
        ({"columns": {"age": {"role": "quasy"}}, "subject": "id"}, ["columns.age.role"]),
        ({"colums": {"age": age}, "subject": "id"}, ["columns", "colums"]),
        ({**BASE, "suppression": {"limit": 0.1}, "privacy": {"k": 0}}, ["privacy.k"]),
    ]:
        assert [line.split(":")[0] for line in mistakes(document)] == expected
