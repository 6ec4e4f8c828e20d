import { countOf } from "#lib/text/count-of.ts";
import { quoteAsData } from "../../quote-as-data.ts";
import { describeDifference, type NamedSnapshot } from "./snapshot-book.ts";

/** Maximum characters of a snapshot in a tool result. A tool result of this length is shown to the model without a cut. */
const SNAPSHOT_CHARS_MAX = 11_000;
/** A page that exceeds the viewport's width by less than this does not count as wider. */
const OVERFLOW_PX_MIN = 40;

/** Formats a snapshot for the model. Shows as many lines as fit, but at least one, beginning at line `from`. */
export function showSnapshot(snapshot: NamedSnapshot, from = 1, charsMax = SNAPSHOT_CHARS_MAX): string {
  const { id, lines } = snapshot;
  const fitting = takeFitting(lines.slice(from - 1), charsMax);
  const last = from - 1 + fitting.length;
  const isWhole = from === 1 && last === lines.length;
  const range = isWhole ? "" : `, lines ${from} to ${last} of ${lines.length}`;
  const more =
    last < lines.length ? `\nMore lines: dom_query with { "snapshot": "${id}", "from": ${last + 1} }.` : "";
  const body = fitting.length > 0 ? fitting.join("\n") : "(nothing is shown)";
  return `Snapshot ${id}${range}. ${quoteAsData("the page", `${describePage(snapshot)}\n${body}`)}${more}`;
}

/** Formats the changes since an earlier snapshot of the same document. */
export function showDifference(
  before: NamedSnapshot,
  after: NamedSnapshot,
  charsMax = SNAPSHOT_CHARS_MAX,
): string {
  const changes = describeDifference(before, after);
  if (changes.length === 0) return `Snapshot ${after.id}: nothing has changed since ${before.id}.`;
  // The whole snapshot is shown if it is shorter than the changed lines, for example because most of the page was
  // replaced.
  const changed = changes.filter((line) => /^[-+] /.test(line));
  if (count(changed) > count(after.lines)) return showSnapshot(after, 1, charsMax);
  const fitting = takeFitting(changes, charsMax);
  const left = changes.length - fitting.length;
  const cut = left > 0 ? `\n${left} more changed lines; read the whole page with dom_query.` : "";
  return `Snapshot ${after.id}: what has changed since ${before.id} (- before, + now). ${quoteAsData("the page", fitting.join("\n"))}${cut}`;
}

function describePage({ title, url, view, loading }: NamedSnapshot): string {
  const { width, height, scrollX, scrollY, pageWidth, pageHeight } = view;
  const down = pageHeight > height ? `, scrolled ${scrollY} of ${pageHeight - height} px` : "";
  const across =
    pageWidth > width + OVERFLOW_PX_MIN ? `, scrolled ${scrollX} of ${pageWidth - width} px across` : "";
  const wait = loading > 0 ? `, still loading: ${countOf(loading, "request")}` : "";
  return `${JSON.stringify(title)} ${url.slice(0, 500)} (viewport ${width}×${height}${down}${across}${wait})`;
}

const count = (lines: string[]) => lines.reduce((sum, line) => sum + line.length, 0);

function takeFitting(lines: string[], charsMax: number): string[] {
  let chars = 0;
  const end = lines.findIndex((line) => {
    chars += line.length + 1;
    return chars > charsMax;
  });
  return end === -1 ? lines : lines.slice(0, Math.max(end, 1));
}
