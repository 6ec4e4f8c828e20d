import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import fc from "fast-check";
import { PLAN_ITEM_STATUSES, REQUIREMENT_STATUSES } from "#db/schema/unions.ts";
import { replacePlan, setPlanMode } from "#lib/planning/store-plan.ts";
import { addRequirements, updateRequirement } from "#lib/planning/store-requirements.ts";
import type { SessionExport } from "#lib/porting/format.ts";
import { canonicalJson } from "#lib/session/canonical-json.ts";
import type { VariantDocument } from "#lib/variant/document.ts";
import { deployFiles } from "../pages/pages-testing.ts";
import { storeReport } from "../reports/reports-testing.ts";
import { openTestService, type TestService } from "../testing.ts";
import { playTurn, step } from "../variants/variants-testing.ts";
import { exportSession, imported, makeSession, storeVariant } from "./porting-testing.ts";

let service: TestService;
let otherService: TestService;
before(async () => {
  [service, otherService] = await Promise.all([
    openTestService({ SANDBOX: "unconfined" }),
    openTestService({ SANDBOX: "unconfined" }),
  ]);
});
after(() => Promise.all([service.close(), otherService.close()]));

const text = fc
  .string({ unit: "grapheme", minLength: 1, maxLength: 60 })
  .filter((each) => !each.includes("\0"));
const change = fc.oneof(
  fc.record({ op: fc.constant("setText" as const), selector: fc.constant("#pay"), text }),
  fc.record({
    op: fc.constant("addClass" as const),
    selector: fc.constant("main > a"),
    className: fc.constant("on"),
  }),
  fc.record({
    op: fc.constant("insert" as const),
    selector: fc.constant("h1"),
    position: fc.constantFrom("before" as const, "end" as const),
    html: fc.constant("<p>Free <b>returns</b></p>"),
  }),
);
const documents = fc.array(
  fc.array(change, { minLength: 1, maxLength: 5 }).map(
    (changes): VariantDocument => ({
      pages: [
        {
          url: "https://shop.example/cart",
          match: "path",
          changes: changes.map((each, index) => ({ id: `c${index}`, ...each })),
          css: ".a { color: red }",
          js: "",
        },
      ],
    }),
  ),
  { maxLength: 3 },
);

const line = text.map((each) => each.trim()).filter((each) => each !== "");
const planItem = fc.record({ text: line, status: fc.constantFrom(...PLAN_ITEM_STATUSES) });
const assertion = fc.oneof(
  fc.record({ is: fc.constantFrom("visible" as const, "hidden" as const) }),
  fc.record({ is: fc.constant("text" as const), value: text }),
  fc.record({ is: fc.constant("count" as const), value: fc.nat(50) }),
);
const requirement = fc.record({
  text: line,
  status: fc.constantFrom(...REQUIREMENT_STATUSES),
  note: fc.option(line),
  assertion: fc.option(
    assertion.map((each) => ({ url: "https://shop.example/cart", selector: "#pay", ...each })),
  ),
});
/** Generates the content of a session. Most parts of the content may be missing. */
const works = fc.record({
  variants: documents,
  said: fc.array(text, { minLength: 1, maxLength: 3 }),
  items: fc.array(planItem, { maxLength: 4 }),
  isPlanFirst: fc.boolean(),
  requirements: fc.uniqueArray(requirement, { maxLength: 4, selector: (each) => each.text }),
  hasReport: fc.boolean(),
  hasPage: fc.boolean(),
});
type Work = typeof works extends fc.Arbitrary<infer Value> ? Value : never;

/** Creates a session with the generated content. */
async function makeWork({ variants, said, items, isPlanFirst, requirements, hasReport, hasPage }: Work) {
  const steps = [
    ...said.map((content) => step("write_file", { path: "notes.txt", content })),
    step("list_files"),
    { text: said.join(" ") },
  ];
  const { session } = await playTurn(service, steps, { capabilities: { browser: false } });
  const { sessionId } = session;
  for (const [index, document] of variants.entries())
    await storeVariant(service, sessionId, index === 0 ? "main" : `v${index}`, document);
  const { planning } = service.container.services;
  const base = { rootSessionId: sessionId, requestId: null, runId: null, callId: null };
  const person = { ...base, author: "person" as const };
  if (items.length > 0) assert.ok((await replacePlan(planning, { ...base, items })).ok);
  if (isPlanFirst) await setPlanMode(planning, sessionId, "plan_first");
  for (const [index, each] of requirements.entries()) {
    const added = { text: each.text, assertion: each.assertion ?? undefined };
    assert.ok((await addRequirements(planning, { ...person, requirements: [added] })).ok);
    const change = { status: each.status, note: each.note };
    assert.ok((await updateRequirement(planning, { ...person, id: `r${index + 1}`, change })).ok);
  }
  if (hasReport) await storeReport(service, sessionId);
  const deployed = hasPage
    ? await deployFiles(service, { "index.html": said.join(" ") }, {}, session)
    : undefined;
  return { sessionId, page: deployed?.page };
}

/**
 * Returns the parts that two exports must have in common: variants, plan items, and requirements that are not waived.
 */
const carried = ({ variants, plan, requirements }: SessionExport) => ({
  variants: variants.map(({ key, document }) => [key, canonicalJson(document)]).sort(),
  items: plan?.items.map(({ text: words, status }) => [words, status]) ?? [],
  requirements: requirements
    .filter(({ status }) => status !== "waived")
    .map(({ text: words, assertion: given }) => [words, canonicalJson(given)]),
});

const DECIDED =
  "Statuses, notes, evidence and results of checks belong to the exported session; imported requirements are open.";

/** Returns the expected entries of `leftOut`, in which an import reports the content that it did not import. */
const listLeftOut = ({ isPlanFirst, requirements, hasReport, hasPage }: Work) => [
  { field: "session", reason: "This session keeps its own settings." },
  ...(isPlanFirst ? [{ field: "plan.mode", reason: "People agree to a plan in each session." }] : []),
  ...requirements.flatMap(({ status }, index) =>
    status === "waived"
      ? [{ field: `requirements[${index}]`, reason: "People waived it in the exported session." }]
      : [],
  ),
  ...(requirements.some(({ status, note }) => status === "met" || status === "failed" || note !== null)
    ? [{ field: "requirements", reason: DECIDED }]
    : []),
  ...(hasReport
    ? [{ field: "reports", reason: "Reports tell what was tested in the exported session." }]
    : []),
  ...(hasPage ? [{ field: "pages", reason: "Landing pages stay with the exported session." }] : []),
  ...(hasReport ? [{ field: "evidence", reason: "Pictures and files stay with the exported session." }] : []),
];

describe("an export that is imported into another service and exported again", () => {
  it("has the same variants, conversation, plan and requirements, and names what was left out", async () => {
    await fc.assert(
      fc.asyncProperty(works, async (work) => {
        const { sessionId } = await makeWork(work);
        const first = await exportSession(service, sessionId, "?evidence=true");
        assert.ok(first.messages.flatMap(({ results }) => results).length > work.said.length);
        assert.deepEqual(
          [
            first.plan?.items.length ?? 0,
            first.requirements.length,
            first.reports.length,
            first.pages.length,
          ],
          [work.items.length, work.requirements.length, Number(work.hasReport), Number(work.hasPage)],
        );
        const pictures = first.reports.flatMap(({ findings }) =>
          findings.flatMap(({ evidence }) => evidence),
        );
        assert.deepEqual(
          pictures.map(({ id }) => id),
          first.evidence.map(({ id }) => id),
        );
        assert.ok(first.evidence.every(({ data }) => data?.startsWith("data:image/png;base64,")));

        const target = await makeSession(otherService);
        const answer = await imported(otherService, target.sessionId, first);
        assert.equal(answer.import.messageCount, first.messages.length);
        assert.deepEqual(answer.leftOut, listLeftOut(work));
        const second = await exportSession(otherService, target.sessionId);
        assert.deepEqual(carried(second), carried(first));
        assert.equal(canonicalJson(second.imports[0]?.messages), canonicalJson(first.messages));
        const { plan, requirements, reports, pages, evidence } = second;
        assert.ok(requirements.every(({ status, note }) => status === "open" && note === null));
        assert.deepEqual([plan?.mode ?? "off", reports, pages, evidence], ["off", [], [], []]);
      }),
      { numRuns: 8 },
    );
  });

  it("does not move a deployed page, which the exporting service still serves", async () => {
    const work = { variants: [], said: ["Hello"], items: [], requirements: [] };
    const { sessionId, page } = await makeWork({
      ...work,
      isPlanFirst: false,
      hasReport: false,
      hasPage: true,
    });
    assert.ok(page);
    const first = await exportSession(service, sessionId);
    assert.deepEqual(first.pages, [{ slug: page.slug, url: page.url, version: 1, note: null }]);
    const target = await makeSession(otherService);
    const { leftOut } = await imported(otherService, target.sessionId, first);
    assert.ok(leftOut.some(({ field }) => field === "pages"));
    const read = (from: TestService, slug: string) =>
      from.call("GET", `/api/pages/${slug}`).then(({ status }) => status);
    assert.deepEqual([await read(service, page.slug), await read(otherService, page.slug)], [200, 404]);
  });
});
