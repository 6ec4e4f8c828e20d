import type { Evidence, Invariant } from "../world/evidence.ts";

type Rows = Evidence["rows"];
type Call = { runId: string | null; callId: string | null };

const isSameCall = (one: Call, other: Call): boolean =>
  one.runId === other.runId && one.callId === other.callId;

/** Returns the parsed bodies of a session's events of one kind. */
const readBodies = ({ events }: Rows, sessionId: string, kind: string) =>
  events
    .filter((event) => event.sessionId === sessionId && event.kind === kind)
    .map(({ body }) => JSON.parse(body));

/** Finds calls of a tool that stored more than one row, and calls that succeeded without storing a row. */
function findWrongCalls(rows: Rows, name: string, stored: readonly Call[]): string[] {
  return rows.toolCalls.flatMap((call) => {
    if (call.name !== name) return [];
    const count = stored.filter((each) => isSameCall(each, call)).length;
    if (count > 1) return [`${call.callId} (${name}) was carried out ${count} times`];
    return call.state === "succeeded" && count === 0
      ? [`the effect of ${call.callId} (${name}) is lost`]
      : [];
  });
}

/** Whether the sorted numbers are 1, 2, 3 … */
const isGapless = (numbers: number[]): boolean =>
  numbers.toSorted((a, b) => a - b).every((number, index) => number === index + 1);

/**
 * Finds plans whose events skip or repeat a revision. Also finds requirements that were added twice, lost, or marked as
 * met without evidence.
 */
export const planningOnce: Invariant = {
  id: "planning",
  promise: "each revision of a plan has one event; a requirement is added once, and its evidence exists",
  findViolations({ rows }) {
    const wrong: string[] = [];
    for (const { sessionId, revision } of rows.plans) {
      const announced = readBodies(rows, sessionId, "plan.updated").map(({ plan }): number => plan.revision);
      if (announced.length !== revision || !isGapless(announced))
        wrong.push(`the plan of ${sessionId} has revision ${revision}, and its events ${announced.join()}`);
    }
    for (const { sessionId, state, name, callId, input } of rows.toolCalls) {
      if (state !== "succeeded" || name !== "update_plan") continue;
      const updates = readBodies(rows, sessionId, "plan.updated");
      const text = readFirstText(input);
      const count = updates.filter(({ plan }) => plan.items[0]?.text === text).length;
      if (count !== 1) wrong.push(`the plan of ${callId} was stored ${count} times`);
    }
    wrong.push(...findWrongCalls(rows, "add_requirements", rows.requirements));
    for (const { sessionId, number, status, evidence, updateCallId } of rows.requirements) {
      const own = rows.requirements.filter((each) => each.sessionId === sessionId);
      if (!isGapless(own.map((each) => each.number)))
        wrong.push(`${sessionId} has a gap in its requirements`);
      const isProven =
        evidence.length > 0 && evidence.every(({ id }) => rows.evidence.some((each) => each.id === id));
      if (status === "met" && !isProven) wrong.push(`r${number} of ${sessionId} is met without its evidence`);
      const call = rows.toolCalls.find((each) => each.callId === updateCallId);
      if (call && status !== "met") wrong.push(`${updateCallId} did not change r${number} of ${sessionId}`);
    }
    const updates = rows.requirements.map((row) => ({ runId: row.updateRunId, callId: row.updateCallId }));
    return [...wrong, ...findWrongCalls(rows, "update_requirement", updates)];
  },
};

const readFirstText = (input: unknown): string | undefined =>
  (input as { items?: { text: string }[] }).items?.[0]?.text;

/** Finds page versions that were deployed twice, lost or not announced, files without content, and unused content. */
export const pagesWhole: Invariant = {
  id: "pages",
  promise: "a version is deployed once per call, whole, with its event; no content is left without a file",
  findViolations({ rows }) {
    const wrong = findWrongCalls(rows, "deploy_landing_page", rows.landingPageVersions);
    const stored = new Set(rows.landingPageBlobs.map(({ hash }) => hash));
    const used = new Set(rows.landingPageFiles.map(({ hash }) => hash));
    for (const hash of stored) if (!used.has(hash)) wrong.push(`content ${hash} belongs to no file`);
    for (const { slug, path, hash } of rows.landingPageFiles)
      if (!stored.has(hash)) wrong.push(`${path} of ${slug} has no content`);
    for (const { slug, number, fileCount } of rows.landingPageVersions) {
      const files = rows.landingPageFiles.filter((file) => file.slug === slug && file.number === number);
      if (files.length !== fileCount)
        wrong.push(`version ${number} of ${slug} has ${files.length} of ${fileCount} files`);
    }
    for (const { slug, sessionId, newestVersion, version } of rows.landingPages) {
      const numbers = rows.landingPageVersions
        .filter((each) => each.slug === slug)
        .map((each) => each.number);
      if (numbers.length !== newestVersion || !isGapless(numbers))
        wrong.push(`${slug} has the versions ${numbers.join()}, and the newest is ${newestVersion}`);
      if (version !== null && !numbers.includes(version)) wrong.push(`${slug} lost its version ${version}`);
      if (sessionId === null) continue;
      const deploys = readBodies(rows, sessionId, "page.deployed").filter(({ page }) => page.slug === slug);
      if (deploys.length !== numbers.length)
        wrong.push(`${slug} was announced ${deploys.length} times, with ${numbers.length} versions`);
    }
    return wrong;
  },
};

/** Finds reports that were published twice, lost, or published without an event. */
export const reportsOnce: Invariant = {
  id: "reports",
  promise: "a report is published once per call, with its event",
  findViolations({ rows }) {
    const wrong = findWrongCalls(rows, "publish_qa_report", rows.reports);
    for (const { id, sessionId } of rows.reports) {
      const events = readBodies(rows, sessionId, "report.published").filter(({ report }) => report.id === id);
      if (events.length !== 1) wrong.push(`${id} was announced ${events.length} times`);
    }
    return wrong;
  },
};

/** Finds documents that were imported twice, only in part, or without an event. */
export const importsWhole: Invariant = {
  id: "imports",
  promise: "a document is imported once and whole, with its event",
  findViolations({ rows }) {
    const wrong = findWrongCalls(rows, "import_legacy_session", rows.imports);
    for (const row of rows.imports) {
      const { id, sessionId, documentId, messageCount, requirementCount, planItemCount, variants } = row;
      const same = rows.imports.filter(
        (each) => each.sessionId === sessionId && each.documentId === documentId,
      );
      if (same.length > 1) wrong.push(`${documentId} was imported ${same.length} times`);
      const messages = rows.importedMessages.filter(({ importId }) => importId === id);
      if (messages.length !== messageCount || !isGapless(messages.map(({ position }) => position)))
        wrong.push(`${id} has ${messages.length} of ${messageCount} messages`);
      const events = readBodies(rows, sessionId, "document.imported");
      if (events.filter(({ import: each }) => each.id === id).length !== 1)
        wrong.push(`${id} was not announced once`);
      for (const { key } of variants)
        if (!rows.variants.some((each) => each.sessionId === sessionId && each.key === key))
          wrong.push(`${id} lost its variant ${key}`);
      const requirements = rows.requirements.filter((each) => each.sessionId === sessionId);
      if (requirements.length < requirementCount) wrong.push(`${id} lost requirements`);
      const plan = rows.plans.find((each) => each.sessionId === sessionId);
      if (planItemCount > 0 && !plan) wrong.push(`${id} lost its plan`);
    }
    return wrong;
  },
};
