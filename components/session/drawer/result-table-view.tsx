"use client";

import { Download } from "lucide-react";
import { formatCell, type ResultTable, writeCsv } from "#lib/page/state/result-table.ts";
import { Button } from "../../ui/button.tsx";
import { download } from "../../ui/download.ts";

/** Number of rows that are shown. The CSV file has all rows. */
const ROWS_SHOWN = 200;

/** Shows a result as a table, with a button that downloads it as CSV. */
export function ResultTableView({ table, name }: { table: ResultTable; name: string }) {
  const { columns, rows } = table;
  return (
    <div className="flex flex-col items-start gap-2 px-4 py-3">
      <Button size="sm" onClick={() => download(`${name}.csv`, writeCsv(table), "text/csv;charset=utf-8")}>
        <Download aria-hidden /> Download CSV
      </Button>
      <section
        aria-label="Result as a table"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
        tabIndex={0}
        className="max-h-[60dvh] w-full overflow-auto rounded-lg border outline-offset-[-2px]"
      >
        <table className="w-full border-collapse text-left text-sm">
          <thead className="sticky top-0 bg-sunken">
            <tr>
              {columns.map((column) => (
                <th key={column} scope="col" dir="auto" className="px-3 py-1.5 font-medium">
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody className="divide-y">
            {rows.slice(0, ROWS_SHOWN).map((row, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the rows of a result never change
              <tr key={index}>
                {row.map((cell, column) => (
                  <td
                    key={columns[column]}
                    dir="auto"
                    className="max-w-80 whitespace-pre-wrap px-3 py-1.5 align-top [overflow-wrap:anywhere]"
                  >
                    {formatCell(cell)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {rows.length > ROWS_SHOWN && (
        <p className="text-faint text-xs">
          The first {ROWS_SHOWN} of {rows.length.toLocaleString("en")} rows. The CSV file has all of them.
        </p>
      )}
    </div>
  );
}
