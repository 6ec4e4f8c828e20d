import { readData } from "../page-reading.ts";
import type { ToolExchange } from "../tool-exchange.ts";
import { demoLabel, join, listLines, quote, quoteAll } from "../write-demo-report.ts";
import type { EditRequest } from "./edit-request.ts";
import { listAdded, type PlannedChange, type Prepared } from "./prepare-changes.ts";
import type { Edit } from "./read-edit.ts";
import {
  isEmptied,
  type ListedChange,
  listChanges,
  listDropped,
  readStored,
  type VariantHistory,
} from "./variant-history.ts";

/** The changes that a turn plans. */
export type EditPlan = {
  edits: { edit: Edit; prepared: Prepared }[];
  /** Ids of changes to undo. */
  drop: string[];
  /** The state of the variant before the turn. */
  history: VariantHistory;
};

const SENTENCE_CHARACTERS_MAX = 600;
const FINDINGS_MAX = 10;
const EXAMPLES = [
  "`make the headline say 'Winter sale'`, `rename the button 'Add to cart' to 'Buy now'`, `replace 'X' with 'Y'`",
  "`hide the banner`, `remove the newsletter box`",
  "`make the buttons green`, `make the headline bigger and bold`",
  "`add a note 'Free returns' below the price`",
  "`undo that`",
];

const code = (text: string): string => `\`${text.replace(/\s+/g, " ").replaceAll("`", "'").slice(0, 300)}\``;

/** Writes the report of a session without the editing tools. */
export function writeCannotEdit(missing: string[]): string {
  const names = missing.map((name) => `\`${name}\``).join(" and ");
  return join(
    `I cannot change the page: this turn does not offer ${names}.`,
    "A session edits pages if it was created without `outputSchema`, with its browser and its sandbox, and without a tool policy that excludes these tools.",
    demoLabel,
  );
}

/** Writes the answer to a request for changes that the rules do not understand. */
export const writeEditHelp = ({ leftOut }: EditRequest): string =>
  join(
    `I changed nothing, because I did not understand: ${quoteAll(leftOut)}.`,
    `I follow a few rules and no more. These work:\n\n${listLines(EXAMPLES)}`,
    demoLabel,
  );

/** Writes the report for a page that did not open. */
export function writeCannotOpen({ result }: ToolExchange): string {
  const [error = ""] = readData(result?.text ?? "").split("\nat line ", 1);
  return join(
    `I could not open the page, so I changed nothing. The browser said: ${quote(error, 300)}`,
    demoLabel,
  );
}

/** Writes the report if no link leads to the page that the message names. */
export const writeNoWay = (word: string): string =>
  join(`I found no link to “${quote(word)}” on the page that is open, so I changed nothing.`, demoLabel);

/**
 * Writes the report of a turn that edits: the stored revision, each change with its text before and after, the check of
 * the revision, and what was not done. All facts come from tool results.
 */
export function writeEditReport(
  request: EditRequest,
  plan: EditPlan,
  attempts: ToolExchange[],
  check: ToolExchange | undefined,
): string {
  const last = attempts.at(-1);
  const stored = last && readStored(last);
  return join(
    last === undefined ? describeNothing(request, plan) : describeAttempt(last, plan, stored),
    attempts.length > 1 ? describeCorrection(attempts) : undefined,
    last === undefined || stored === undefined ? undefined : describeProof(last, stored, check),
    describeFailures(plan),
    request.leftOut.length > 0 ? `I did not do: ${quoteAll(request.leftOut)}.` : undefined,
    demoLabel,
  );
}

function describeNothing({ undo, edits }: EditRequest, { history }: EditPlan): string {
  if (undo === undefined || edits.length > 0) return "I changed nothing.";
  const reason =
    history.newest === 0
      ? "no revision of the variant has been stored in this session"
      : "my earlier changes are taken back already";
  return `There is nothing to take back: ${reason}.`;
}

function describeAttempt(
  { input, result }: ToolExchange,
  plan: EditPlan,
  stored: number | undefined,
): string {
  if (stored === undefined) {
    const answer = quote(result?.text ?? "nothing", SENTENCE_CHARACTERS_MAX);
    const head = result?.isError ? "The change failed." : "I cannot tell whether the change was stored.";
    return `${head} The answer was: ${answer}`;
  }
  const text = result?.text ?? "";
  const [head = ""] = text.split("\n", 1);
  const earlierIds = new Set(plan.history.groups.flatMap(({ ids }) => ids));
  const listed = listChanges(text).filter(({ id }) => !earlierIds.has(id));
  const added = listAdded(input);
  const dropped = listDropped(input).map((id) => describeDropped(String(id), plan.history));
  const lines = [
    ...(dropped.length > 0 ? [`Took back ${dropped.join(", ")}`] : []),
    ...(listed.length > 0
      ? listed.map((change, index) => describeChange(change, added[index]))
      : added.map(describePlanned)),
  ];
  return `${quote(head, 300)}\n\n${listLines(lines)}`;
}

function describeDropped(id: string, { listed }: VariantHistory): string {
  const change = listed.get(id);
  return change ? `${code(id)} (${change.op} of ${code(change.selector)})` : code(id);
}

/** Describes a stored change and the elements that it matched. */
function describeChange(
  { op, selector, found, elements }: ListedChange,
  planned: PlannedChange | undefined,
): string {
  const where = code(selector);
  const [first] = elements;
  const more = /^1 element$/.test(found) ? "" : ` (${quote(found, 200)})`;
  const before = first ? `“${quote(first.before)}”` : "";
  if (op === "setText" && first)
    return `Text of ${where}: ${before} → “${quote(first.after ?? first.before)}”${more}`;
  if (op === "remove") return `Removed ${where}${before && `: ${before}`}${more}`;
  return planned ? `${describePlanned(planned)}${more}` : `${op} ${where}${more}`;
}

/** Describes a change by the input of the call, because not every result lists the change with its new content. */
function describePlanned({ op, selector, text, style, position, html }: PlannedChange): string {
  const where = code(selector);
  if (op === "setText") return `Text of ${where}: “${quote(String(text))}”`;
  if (op === "insert") return `Added ${code(String(html))} (${String(position)} ${where})`;
  if (op !== "setStyle") return `Removed ${where}`;
  const properties = Object.entries(style ?? {}).map(([name, value]) => `${name}: ${String(value)}`);
  return `Style of ${where}: ${code(properties.join("; "))}`;
}

function describeCorrection(attempts: ToolExchange[]): string {
  const refusals = attempts.slice(0, -1).map(({ result }) => quote(readData(result?.text ?? ""), 300));
  return `An earlier call was refused, and I corrected it: ${refusals.join(" ")}`;
}

const STATUS = /^Check of revision (\d+) of variant ([a-z0-9-]+): (pass|fail|warn)\b/m;

const describeProof = (last: ToolExchange, revision: number, check: ToolExchange | undefined): string =>
  isEmptied(last)
    ? "The variant has no changes left, so there is nothing to check."
    : describeCheck(revision, check);

function describeCheck(revision: number, check: ToolExchange | undefined): string {
  if (check === undefined)
    return `Revision ${revision} is not checked: this turn does not offer \`check_variant\`.`;
  const text = check.result?.text ?? "no answer";
  const status = STATUS.exec(text);
  if (!status || check.result?.isError)
    return `Revision ${revision} is not checked. The answer was: ${quote(text, SENTENCE_CHARACTERS_MAX)}`;
  const findings = [...text.matchAll(/^- ((?:fail|warn) .+)$/gm)].map(([, finding = ""]) =>
    quote(finding, 300),
  );
  const rest = findings.length - FINDINGS_MAX;
  const shown = [...findings.slice(0, FINDINGS_MAX), ...(rest > 0 ? [`… and ${rest} more`] : [])];
  const head = `Check of revision ${status[1]}: **${status[3]}**.`;
  return shown.length > 0 ? `${head}\n\n${listLines(shown)}` : head;
}

function describeFailures({ edits }: EditPlan): string | undefined {
  const lines = edits.flatMap(({ edit, prepared }) => {
    if (prepared.kind === "failed")
      return [`Not done: “${quote(edit.words)}”. ${quote(prepared.reason, SENTENCE_CHARACTERS_MAX)}`];
    return prepared.kind === "ready" && prepared.remark
      ? [quote(prepared.remark, SENTENCE_CHARACTERS_MAX)]
      : [];
  });
  return lines.length > 0 ? listLines(lines) : undefined;
}
