"""Cells that a spreadsheet would take for a formula: kept as they are, because a table is data."""

from made_up_tables import make_tickets, read_csv, write_csv

from labelsure.cli import main

FORMULAS = [
    "=1+1",
    "+49 30 1234",
    "-5",
    "@home",
    '=HYPERLINK("http://example.org","x")',
    "\t=1",
    'a "quoted", cell',
]


def test_kept_cells_are_what_they_were(tickets, tmp_path):
    data = write_csv(tmp_path / "new.csv", {"id": FORMULAS, **make_tickets(len(FORMULAS), seed=1)})
    out = tmp_path / "out.csv"
    assert (
        main(["predict", str(tickets / "m.labelsure"), str(data), "--keep", "id", "-o", str(out)])
        == 0
    )
    assert [row["id"] for row in read_csv(out)] == FORMULAS
