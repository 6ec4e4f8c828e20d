import assert from "node:assert/strict";
import { test } from "node:test";
import type { Evidence } from "../world/evidence.ts";
import { importsWhole, pagesWhole, planningOnce, reportsOnce } from "./work.ts";

const ids = { sessionId: "ses_a", runId: "run_a" };
const event = (kind: string, fields: object) => ({
  ...ids,
  kind,
  body: JSON.stringify({ kind, ...fields }),
});
const call = (callId: string, name: string, input: object = {}) => ({
  ...ids,
  callId,
  name,
  input,
  state: "succeeded",
});

/**
 * Creates the rows of a turn that plans, meets a requirement, deploys, reports and imports. The rows have only the
 * columns that the invariants read.
 */
function makeRows() {
  const items = [{ text: "plan abcd", status: "todo" }];
  return {
    plans: [{ ...ids, revision: 1 }],
    requirements: [
      {
        ...ids,
        callId: "call_2",
        number: 1,
        status: "met",
        evidence: [{ id: "evi_a" }],
        updateRunId: "run_a",
        updateCallId: "call_3",
      },
    ],
    evidence: [{ id: "evi_a" }],
    reports: [{ ...ids, callId: "call_5", id: "rep_a" }],
    landingPages: [{ slug: "site", sessionId: "ses_a", version: 1 as number | null, newestVersion: 1 }],
    landingPageVersions: [{ slug: "site", number: 1, fileCount: 1, runId: "run_a", callId: "call_4" }],
    landingPageFiles: [{ slug: "site", number: 1, path: "index.html", hash: "aa" }],
    landingPageBlobs: [{ hash: "aa" }],
    imports: [
      {
        ...ids,
        callId: "call_6",
        id: "imp_a",
        documentId: "ses_b@5",
        messageCount: 1,
        requirementCount: 0,
        planItemCount: 0,
        variants: [{ from: "main", key: "main", revision: 1 }],
      },
    ],
    importedMessages: [{ importId: "imp_a", position: 1 }],
    variants: [{ sessionId: "ses_a", key: "main", revision: 1 }],
    toolCalls: [
      call("call_1", "update_plan", { items }),
      call("call_2", "add_requirements"),
      call("call_3", "update_requirement"),
      call("call_4", "deploy_landing_page"),
      call("call_5", "publish_qa_report"),
      call("call_6", "import_legacy_session"),
    ],
    events: [
      event("plan.updated", { plan: { revision: 1, items } }),
      event("page.deployed", { page: { slug: "site" } }),
      event("report.published", { report: { id: "rep_a" } }),
      event("document.imported", { import: { id: "imp_a" } }),
    ],
  };
}

type Forged = ReturnType<typeof makeRows>;

// The cast is needed because the rows have only the columns that the invariants read.
const judge = (rows: Forged): string[] =>
  [planningOnce, pagesWhole, reportsOnce, importsWhole].flatMap(({ id, findViolations }) =>
    findViolations({ rows } as unknown as Evidence).map((text) => `${id}: ${text}`),
  );

/** Adds a copy of the first entry to a list, with some fields replaced. */
const repeat = <Item extends object>(list: Item[], fields: Partial<Item> = {}) =>
  void list.push({ ...(list[0] as Item), ...fields });
const change = <Item extends object>(list: Item[], fields: Partial<Item>) =>
  void Object.assign(list[0] as Item, fields);
const forget = (rows: Forged, kind: string) => {
  rows.events = rows.events.filter((each) => each.kind !== kind);
};

test("work that keeps every promise has no violation", () => assert.deepEqual(judge(makeRows()), []));

const violations: [string, string, (rows: Forged) => void][] = [
  ["planning", "a plan that was stored twice", ({ events }) => repeat(events)],
  ["planning", "a plan that was not announced", (rows) => forget(rows, "plan.updated")],
  ["planning", "a plan that is gone", (rows) => void Object.assign(rows, { plans: [], events: [] })],
  [
    "planning",
    "a requirement that was added twice",
    ({ requirements }) => repeat(requirements, { number: 2, updateCallId: "" }),
  ],
  ["planning", "a requirement that is gone", ({ requirements }) => void requirements.pop()],
  ["planning", "a change that is gone", ({ requirements }) => change(requirements, { status: "open" })],
  [
    "planning",
    "a requirement that is met without evidence",
    ({ requirements }) => change(requirements, { evidence: [] }),
  ],
  ["planning", "evidence that is gone", ({ evidence }) => void evidence.pop()],
  ["pages", "a version that was deployed twice", (rows) => repeat(rows.landingPageVersions, { number: 2 })],
  ["pages", "a version that is gone", (rows) => void rows.landingPageVersions.pop()],
  ["pages", "a version without its file", (rows) => void rows.landingPageFiles.pop()],
  ["pages", "a file without content", (rows) => void rows.landingPageBlobs.pop()],
  ["pages", "content without a file", (rows) => repeat(rows.landingPageBlobs, { hash: "bb" })],
  ["pages", "a deploy that was not announced", (rows) => forget(rows, "page.deployed")],
  ["pages", "a current version that is gone", (rows) => change(rows.landingPages, { version: 2 })],
  ["reports", "a report that was published twice", ({ reports }) => repeat(reports, { id: "rep_b" })],
  ["reports", "a report that is gone", ({ reports }) => void reports.pop()],
  ["reports", "a report that was not announced", (rows) => forget(rows, "report.published")],
  ["imports", "a document that was imported twice", ({ imports }) => repeat(imports, { id: "imp_b" })],
  ["imports", "an import that is gone", ({ imports }) => void imports.pop()],
  ["imports", "an import without its messages", (rows) => void rows.importedMessages.pop()],
  ["imports", "an import without its variant", ({ variants }) => void variants.pop()],
  ["imports", "an import that was not announced", (rows) => forget(rows, "document.imported")],
  [
    "imports",
    "an import without its plan",
    (rows) => {
      change(rows.imports, { planItemCount: 1 });
      rows.plans = [];
    },
  ],
];

for (const [id, title, spoil] of violations)
  test(`${id} finds ${title}`, () => {
    const rows = makeRows();
    spoil(rows);
    const found = judge(rows);
    assert.ok(
      found.some((violation) => violation.startsWith(`${id}:`)),
      found.join("; ") || "nothing was found",
    );
  });
