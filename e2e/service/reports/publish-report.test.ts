import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { startReceiver } from "#e2e/fixtures/receiver.ts";
import { publishReport } from "#lib/reports/publish-report.ts";
import { OTHER_KEY, openTestService, type TestService, waitUntil } from "../testing.ts";
import { actOnPage, playFollowUp, playTurn, storeVariant } from "../variants/variants-testing.ts";
import { listReports, publish, REPORT, readEvents, readReport, savePicture } from "./reports-testing.ts";

let service: TestService;
before(async () => {
  service = await openTestService();
});
after(() => service.close());

const [finding] = REPORT.findings;

/** Creates a session whose agent has published a report. */
async function makeReport(profile: Record<string, unknown> = {}) {
  const { session, results } = await playTurn(service, [publish(REPORT)], profile);
  const [summary] = await listReports(service, session.sessionId);
  return { session, results, summary: summary ?? assert.fail(`no report: ${results.join()}`) };
}

describe("publish_qa_report", () => {
  it("stores the report with its event, and names it in the outcome, the status and the callback", async (context) => {
    const receiver = await startReceiver();
    context.after(() => receiver.close());
    const callback = { url: receiver.url, events: ["run.completed"] };
    const { session, results, summary } = await makeReport({ callback });
    const { sessionId, runId, requestId } = session;
    assert.match(
      results[0] ?? "",
      /^Published report rep_[a-z2-7]{24}, version 1 of "Checkout audit", with 1 finding: 1 serious\.\nPeople with access to the session read it at \/s\/ses_/,
    );
    assert.deepEqual(summary, {
      id: summary.id,
      title: REPORT.title,
      version: 1,
      url: `/s/${sessionId}/reports/${summary.id}`,
      counts: { critical: 0, serious: 1, moderate: 0, minor: 0, info: 0 },
      createdAt: summary.createdAt,
    });
    assert.deepEqual(await readReport(service, sessionId, summary.id), {
      ...summary,
      sessionId,
      newest: { id: summary.id, version: 1, url: summary.url },
      tested: [],
      summary: REPORT.summary,
      findings: [{ ...finding, evidence: [] }],
    });
    const events = await readEvents(service, sessionId);
    const published = events.filter(({ kind }) => kind === "report.published");
    assert.deepEqual(
      published.map((event) => [event.runId, event.requestId, event.report]),
      [[runId, requestId, summary]],
    );
    const completed = events.findLast(({ kind }) => kind === "run.completed");
    assert.deepEqual(completed.reports, [summary]);
    const status = await service.read(`/api/sessions/${sessionId}/agent/status`);
    assert.deepEqual(status.reports, [summary]);
    await waitUntil(() => receiver.received.length > 0, "the callback arrives");
    assert.deepEqual(JSON.parse(String(receiver.received[0]?.body)).data.reports, [summary]);
  });

  it("leaves sessions without reports with an empty list in the status and none in the outcome", async () => {
    const { session } = await playTurn(service, []);
    const status = await service.read(`/api/sessions/${session.sessionId}/agent/status`);
    assert.deepEqual(status.reports, []);
    const completed = (await readEvents(service, session.sessionId)).find(
      ({ kind }) => kind === "run.completed",
    );
    assert.ok(!("reports" in completed));
    assert.deepEqual(await listReports(service, session.sessionId), []);
  });

  it("sorts the findings by severity, and accepts a report without findings", async () => {
    const severities = ["info", "minor", "critical", "moderate", "serious", "critical"];
    const findings = severities.map((severity, index) => ({
      severity,
      title: `Finding ${index}`,
      detail: "",
    }));
    const { session, results } = await playTurn(service, [
      publish({ ...REPORT, findings }),
      publish({ title: "Clean", summary: "", findings: [] }),
    ]);
    assert.match(results[1] ?? "", /version 1 of "Clean", with no findings\./);
    const [clean, sorted] = await listReports(service, session.sessionId);
    assert.deepEqual(clean?.counts, { critical: 0, serious: 0, moderate: 0, minor: 0, info: 0 });
    assert.deepEqual(sorted?.counts, { critical: 2, serious: 1, moderate: 1, minor: 1, info: 1 });
    const read = await readReport(service, session.sessionId, sorted?.id ?? "");
    assert.deepEqual(
      read.findings.map(({ title }) => title),
      ["Finding 2", "Finding 5", "Finding 4", "Finding 3", "Finding 1", "Finding 0"],
    );
  });

  it("stores a report with the same title as its next version, and does not change the older one", async () => {
    const { session, summary } = await makeReport();
    const before = await readReport(service, session.sessionId, summary.id);
    const [again] = await playFollowUp(service, session.sessionId, [
      publish({ ...REPORT, title: `  ${REPORT.title} `, summary: "Now it works.", findings: [] }),
      publish({ ...REPORT, title: "Another audit" }),
    ]);
    assert.match(again ?? "", /version 2 of "Checkout audit", with no findings/);
    const listed = await listReports(service, session.sessionId);
    assert.deepEqual(
      listed.map(({ title, version }) => [title, version]),
      [
        ["Another audit", 1],
        [REPORT.title, 2],
        [REPORT.title, 1],
      ],
    );
    const newest = { id: listed[1]?.id, version: 2, url: listed[1]?.url };
    assert.deepEqual(await readReport(service, session.sessionId, summary.id), { ...before, newest });
    const completed = (await readEvents(service, session.sessionId)).findLast(
      ({ kind }) => kind === "run.completed",
    );
    assert.deepEqual(completed.reports, listed.slice(0, 2));
  });

  it("records the tested revisions and checks of the session's variants", async () => {
    const { session } = await playTurn(service, []);
    await storeVariant(service, session.sessionId);
    await playFollowUp(service, session.sessionId, [publish(REPORT)]);
    const [summary] = await listReports(service, session.sessionId);
    const read = await readReport(service, session.sessionId, summary?.id ?? "");
    assert.deepEqual(read.tested, [{ variant: "main", revision: 1, check: null }]);
  });

  it("publishes once per call, also if the call is repeated", async () => {
    const { session, summary } = await makeReport();
    const { sessionId, runId, requestId } = session;
    const { services } = service.container;
    const deps = { ...services, readTestedVariants: async () => [] };
    const call = { sessionId, requestId, runId, callId: "call_twice", report: { ...REPORT, title: "Twice" } };
    const [first, second] = await Promise.all([publishReport(deps, call), publishReport(deps, call)]);
    assert.ok(first.ok && second.ok);
    assert.deepEqual([first.isNew, second.isNew].toSorted(), [false, true]);
    assert.deepEqual(first.report, second.report);
    const third = await publishReport(deps, { ...call, report: REPORT });
    assert.deepEqual(third, { ok: true, isNew: false, report: first.report });
    const listed = await listReports(service, sessionId);
    assert.deepEqual(
      listed.map(({ id }) => id),
      [first.report.id, summary.id],
    );
    const events = await readEvents(service, sessionId);
    assert.equal(events.filter(({ kind }) => kind === "report.published").length, 2);
  });

  it("numbers simultaneous reports without a gap, up to 100 in a session", async () => {
    const { session } = await playTurn(service, []);
    const { sessionId } = session;
    const deps = { ...service.container.services, readTestedVariants: async () => [] };
    const about = { sessionId, requestId: null, runId: null, callId: null, report: REPORT };
    const published = await Promise.all(Array.from({ length: 102 }, () => publishReport(deps, about)));
    const refused = published.flatMap((each) => (each.ok ? [] : [each.problem]));
    assert.deepEqual(refused, Array(2).fill("the session has 100 reports; a session may have 100"));
    const versions = (await listReports(service, sessionId)).map(({ version }) => version);
    assert.deepEqual(
      versions.toSorted((a, b) => a - b),
      Array.from({ length: 100 }, (_, index) => index + 1),
    );
  });
});

describe("evidence of a report", () => {
  it("is described in its findings, and may belong to a sub-agent", async () => {
    const { session } = await playTurn(
      service,
      [{ toolCalls: [{ name: "spawn_agents", arguments: { agents: [{ objective: "look" }] } }] }],
      { subAgents: true },
    );
    const { sessionId } = session;
    const { agents } = await service.read<{ agents: { agentId: string }[] }>(
      `/api/sessions/${sessionId}/agents`,
    );
    const childId = agents[0]?.agentId ?? assert.fail("no sub-agent");
    const own = await savePicture(service, sessionId, "Own");
    const below = await savePicture(service, childId, "Below");
    await playFollowUp(service, sessionId, [
      publish({ ...REPORT, findings: [{ ...finding, evidenceIds: [below, own, below] }] }),
    ]);
    const [summary] = await listReports(service, sessionId);
    const report = await readReport(service, sessionId, summary?.id ?? "");
    assert.deepEqual(
      report.findings[0]?.evidence.map(({ id, title }) => [id, title]),
      [
        [below, "Below"],
        [own, "Own"],
      ],
    );
    // A person with a share link of the session may open pictures of the session and of its sub-agent. Both pictures
    // have a path below the session.
    const answer = await actOnPage(service, session, "/share-links", { role: "view" });
    const { shareUrl } = (await answer.json()) as { shareUrl: string };
    const cookie = `share=${new URL(shareUrl, service.env.baseUrl).searchParams.get("key")}`;
    for (const id of [own, below]) {
      const path = `/api/sessions/${sessionId}/artifacts/${id}`;
      assert.equal((await service.call("GET", path, undefined, { authorization: "", cookie })).status, 200);
    }
  });

  it("that does not belong to the session's tree is refused with the field, and nothing is stored", async () => {
    const { session: other } = await playTurn(service, []);
    const foreign = await savePicture(service, other.sessionId);
    const { session } = await playTurn(service, []);
    const own = await savePicture(service, session.sessionId);
    const [unknown, others] = await playFollowUp(service, session.sessionId, [
      publish({ ...REPORT, findings: [finding, finding, { ...finding, evidenceIds: ["evi_none"] }] }),
      publish({ ...REPORT, findings: [{ ...finding, evidenceIds: [own, foreign] }] }),
    ]);
    assert.equal(
      unknown,
      "Error: publish_qa_report: findings[2].evidenceIds[0]: the session has no evidence evi_none.",
    );
    assert.match(others ?? "", /findings\[0\]\.evidenceIds\[1\]: the session has no evidence evi_/);
    assert.deepEqual(await listReports(service, session.sessionId), []);
  });
});

describe("malformed reports", () => {
  const long = (length: number) => "x".repeat(length);
  const cases: [string, Record<string, unknown>, RegExp][] = [
    ["no title", { ...REPORT, title: "  " }, /title: must not be empty/],
    ["a long title", { ...REPORT, title: long(201) }, /title: must be at most 200 characters/],
    ["a long summary", { ...REPORT, summary: long(10_001) }, /summary: must be at most 10,000 characters/],
    ["another field", { ...REPORT, replaces: "rep_a" }, /replaces/],
    ["no list", { ...REPORT, findings: "none" }, /findings: /],
    [
      "a severity of another convention",
      { ...REPORT, findings: [finding, { ...finding, severity: "high" }] },
      /findings\[1\]\.severity: must be one of critical, serious, moderate, minor, info/,
    ],
    [
      "a script address",
      { ...REPORT, findings: [{ ...finding, url: "javascript:alert(1)" }] },
      /findings\[0\]\.url: must be an absolute http\(s\) URL/,
    ],
    [
      "too many steps",
      { ...REPORT, findings: [{ ...finding, steps: Array(31).fill("Click.") }] },
      /findings\[0\]\.steps: must hold at most 30 entries/,
    ],
    [
      "an empty step",
      { ...REPORT, findings: [{ ...finding, steps: ["Click.", ""] }] },
      /findings\[0\]\.steps\[1\]: must not be empty/,
    ],
    [
      "too many findings",
      { ...REPORT, findings: Array(201).fill(finding) },
      /findings: must hold at most 200 entries/,
    ],
    [
      "too many bytes",
      { ...REPORT, findings: Array(200).fill({ ...finding, detail: long(1_400) }) },
      /findings: the report has \d+ bytes as JSON; a report may have 262144\./,
    ],
  ];
  it("are refused with the field, and nothing is stored", async () => {
    const { session, results } = await playTurn(
      service,
      cases.map(([, input]) => publish(input)),
    );
    assert.equal(results.length, cases.length);
    for (const [index, [what, , expected]] of cases.entries())
      assert.match(results[index] ?? "", expected, what);
    assert.deepEqual(await listReports(service, session.sessionId), []);
  });
});

describe("a report", () => {
  it("can be read by the session's owner and visitors, and only in its session", async () => {
    const { session, summary } = await makeReport();
    const other = await makeReport();
    const path = `/api/sessions/${session.sessionId}/reports`;
    const read = async (url: string, headers: Record<string, string>) =>
      (await service.call("GET", url, undefined, headers)).status;
    const key = new URL(session.shareUrl, service.env.baseUrl).searchParams.get("key");
    const otherKey = new URL(other.session.shareUrl, service.env.baseUrl).searchParams.get("key");
    for (const url of [path, `${path}/${summary.id}`, `${path}/${summary.id}?format=markdown`]) {
      assert.equal(await read(url, { authorization: "", cookie: `share=${key}` }), 200, url);
      assert.equal(await read(url, { authorization: "", cookie: `share=${otherKey}` }), 404, url);
      assert.equal(await read(url, { authorization: `Bearer ${OTHER_KEY}` }), 404, url);
      assert.equal(await read(url, { authorization: "" }), 401, url);
    }
    assert.equal(await read(`${path}/${other.summary.id}`, {}), 404);
    assert.equal(await read(`${path}/rep_none`, {}), 404);
    assert.equal(await read(`${path}/${summary.id}?format=pdf`, {}), 400);
  });

  it("is deleted with its session", async () => {
    const { session } = await makeReport();
    const deleted = await service.call("DELETE", `/api/sessions/${session.sessionId}`);
    assert.equal(((await deleted.json()) as { deleted: { reports: number } }).deleted.reports, 1);
  });

  it("can be downloaded as Markdown and JSON", async () => {
    const { session, summary } = await makeReport();
    const path = `/api/sessions/${session.sessionId}/reports/${summary.id}`;
    const markdown = await service.call("GET", `${path}?format=markdown`);
    assert.equal(markdown.headers.get("content-type"), "text/markdown; charset=utf-8");
    assert.equal(markdown.headers.get("content-disposition"), `attachment; filename="${summary.id}.md"`);
    assert.equal(markdown.headers.get("x-content-type-options"), "nosniff");
    assert.match(await markdown.text(), /^# Checkout audit\n/);
    const json = await service.call("GET", `${path}?format=json`);
    assert.equal(json.headers.get("content-disposition"), `attachment; filename="${summary.id}.json"`);
    assert.deepEqual(await json.json(), await service.read(path));
  });
});
