import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import type { Publication } from "#lib/events/event.ts";
import type { Evidence } from "../world/evidence.ts";
import { findViolations } from "./index.ts";

const at = (second: number) => new Date(Date.UTC(2020, 0, 1, 0, 0, second));
const INTEGRITY = `sha384-${createHash("sha384").update("run()").digest("base64")}`;
const ids = { sessionId: "ses_a", requestId: "req_a", runId: "run_a" };

/**
 * Creates evidence of a session with one turn and no violations. Its rows have only columns that the invariants read.
 */
function makeEvidence() {
  const text = "<<tools n=abcd>> Please do it.";
  const event = (seq: number, kind: string, fields: object = {}) => {
    const body = JSON.stringify({ kind, seq, ...ids, ...fields });
    return { ...ids, seq, kind, body, createdAt: at(seq) };
  };
  const delivery = (id: string, seq: number, body: string, name: string) => ({
    id,
    ...ids,
    event: name,
    itemId: null,
    body: `{"data":${body}}`,
    createdAt: at(seq),
    state: "delivered",
    attemptsFinished: 1,
    cycle: 1,
  });
  const attempt = (deliveryId: string) => ({
    deliveryId,
    cycle: 1,
    number: 1,
    at: at(9),
    status: 200,
    latencyMs: 5,
    error: null as string | null,
  });
  const started = event(1, "run.started");
  const completed = event(7, "run.completed", { outcome: "succeeded" });
  const events = [
    started,
    event(2, "message.completed", { message: { parts: [{ type: "text", text }] } }),
    event(3, "tool.call", { toolCallId: "call_1" }),
    event(4, "tool.result", { toolCallId: "call_1" }),
    event(5, "deliverable.ready"),
    event(6, "publication.created", { publication: { release: "rel_a" } }),
    completed,
  ];
  const sent = (delivery: string, event: string, of: { body: string }, exchange: number) => [
    {
      atMs: exchange,
      firstByteAtMs: exchange,
      type: "callback",
      path: "/hook/ok",
      delivery,
      event,
      exchange,
      signature: null,
      body: `{"data":${of.body}}`,
    },
    { atMs: exchange, type: "callback-end", exchange, status: 200 },
  ];
  const prompt = {
    atMs: 1,
    type: "model",
    index: 0,
    outcome: "open",
    kind: "turn",
    nonce: "abcd",
    isSummary: false,
    isSubAgent: false,
    tags: ["abcd"],
    unpaired: [] as string[],
    unknown: [] as string[],
  };
  const schema = { type: "object", properties: { name: { type: "string", minLength: 3 } } };
  return {
    rows: {
      sessions: [
        {
          id: "ses_a",
          ownerId: "tests",
          idempotencyKey: "key",
          eventSeq: 7,
          activeRunId: null as string | null,
          callbackEvents: ["run.started", "run.completed"],
          outputSchema: schema,
        },
      ],
      requests: [
        {
          id: "req_a",
          sessionId: "ses_a",
          position: 1,
          mode: "queue",
          joinedRunId: null as string | null,
          joinedAfterSeq: null as number | null,
        },
      ],
      runs: [
        {
          id: "run_a",
          sessionId: "ses_a",
          requestId: "req_a",
          attempt: 1,
          state: "succeeded",
          startedAt: at(1),
          endedAt: at(6),
          generation: 1,
          parkedAt: null as Date | null,
        },
      ],
      agents: [] as ReturnType<typeof subAgent>[],
      variants: [] as { sessionId: string; key: string; revision: number }[],
      variantRevisions: [] as ReturnType<typeof revision>[],
      previews: [] as { variant: string }[],
      // The invariants of these rows are tested in `work.test.ts`.
      ...{ plans: [], requirements: [], evidence: [], reports: [], imports: [], importedMessages: [] },
      ...{ landingPages: [], landingPageVersions: [], landingPageFiles: [], landingPageBlobs: [] },
      publications: [
        {
          id: "pub_a",
          sessionId: "ses_a" as string | null,
          variant: "abcd",
          release: 1 as number | null,
          newestRelease: 1,
        },
      ],
      releases: [
        {
          publicationId: "pub_a",
          number: 1,
          id: "rel_a",
          script: "run()",
          integrity: INTEGRITY,
          author: "agent",
          isUnchecked: false,
          runId: "run_a",
          callId: "call_2",
          withdrawnAt: null as Date | null,
        },
      ],
      elicitations: [
        { id: "eli_a", runId: "run_a", callId: "call_1", state: "answered", answer: "done" as string | null },
      ],
      messages: [
        { sessionId: "ses_a", requestId: "req_a", role: "user", seq: 1, parts: [{ type: "text", text }] },
      ],
      toolCalls: [
        {
          callId: "call_1",
          runId: "run_a",
          name: "run_shell",
          input: { command: "echo abcd >> ran.txt" } as object,
          state: "succeeded",
          resultText: "done",
          startedAt: at(3),
          endedAt: at(4),
        },
      ],
      deliverables: [{ runId: "run_a", sessionId: "ses_a", status: "ready", value: { name: "a name" } }],
      events,
      deliveries: [
        delivery("whd-1", 1, started.body, "run.started"),
        delivery("whd-2", 7, completed.body, "run.completed"),
      ],
      deliveryAttempts: [attempt("whd-1"), attempt("whd-2")],
      outbox: [{ id: "run_a:1", createdAt: at(1), sentAt: at(1) as Date | null }],
      engineRuns: [
        {
          id: "engine_a",
          functionId: "run-turn",
          eventId: "run_a:1",
          state: "completed",
          endedAt: at(6) as Date | null,
          error: null,
        },
      ],
      engineSteps: [{ runId: "engine_a", kind: "step", name: "play-1" }],
    },
    prompts: [prompt],
    traffic: [...sent("whd-1", "run.started", started, 1), ...sent("whd-2", "run.completed", completed, 2)],
    acknowledged: [{ ...ids, mode: "queue", nonce: "abcd", idempotencyKey: "key", atMs: at(0).getTime() }],
    acknowledgedAnswers: [{ elicitationId: "eli_a", text: "done" }],
    samples: [{ sessionId: "ses_a", fromMs: at(3).getTime(), toMs: at(4).getTime(), turnState: "running" }],
    publishing: {
      changes: [] as Evidence["publishing"]["changes"],
      readings: [publicationReading()],
      deletions: [] as Evidence["publishing"]["deletions"],
    },
    streams: [
      {
        sessionId: "ses_a",
        requestId: "req_a",
        after: 0,
        text: `retry: 1000\n\n${events.map((one) => `id: ${one.seq}\nevent: ${one.kind}\ndata: ${one.body}\n\n`).join("")}`,
      },
    ],
    leftProcesses: [] as { pid: number; name: string }[],
    executions: [{ nonce: "abcd", atMs: at(3).getTime() }],
    callbackSecrets: new Map<string, string>(),
    schedule: { baseMs: 100, factor: 2 },
    starts: [],
    waits: [],
    repeatMs: 0,
    endedAtMs: at(600).getTime(),
    disturbedAtMs: [],
    canaries: ["canary-1"],
    haystacks: [{ name: "the log", text: "nothing" }],
  };
}

/** Returns what the API and the script URLs show of release 1 of a publication. */
function publicationReading() {
  const script = { publicationId: "pub_a", status: 200, integrity: INTEGRITY, isEmpty: false };
  return {
    changeCount: 0,
    publications: [
      {
        id: "pub_a",
        sessionId: "ses_a" as string | null,
        variant: "abcd",
        publication: { number: 1, integrity: INTEGRITY } as Publication | null,
      },
    ],
    scripts: [
      { ...script, pinned: null as number | null },
      { ...script, pinned: 1 },
    ],
  };
}

type Forged = ReturnType<typeof makeEvidence>;

// The cast is needed because the rows have only the columns that the invariants read.
const judge = ({ prompts, ...evidence }: Forged) =>
  findViolations({ ...evidence, traffic: [...evidence.traffic, ...prompts] } as unknown as Evidence);

/** Returns the first item of a list. Fails if the list is empty. */
function first<Item>(items: Item[]): Item {
  const [item] = items;
  assert.ok(item);
  return item;
}

const change = <Item extends object>(item: Item, fields: Partial<Item>) => void Object.assign(item, fields);

test("a turn that keeps every promise has no violation", () => assert.deepEqual(judge(makeEvidence()), []));

const violations: [string, string, (evidence: Forged) => void][] = [
  ["I1", "a second first turn", ({ rows }) => rows.runs.push({ ...first(rows.runs), id: "run_b" })],
  [
    "I1",
    "an acknowledged session that is gone",
    (evidence) => change(first(evidence.acknowledged), { sessionId: "ses_b" }),
  ],
  ["I2", "a message that is gone", ({ rows }) => void rows.messages.pop()],
  [
    "I2",
    "a message that is in the transcript twice",
    ({ rows }) => rows.messages.push({ ...first(rows.messages), seq: 2 }),
  ],
  ["I3", "a run without an end", ({ rows }) => void rows.events.pop()],
  ["I3", "a run that is still open", ({ rows }) => change(first(rows.runs), { state: "running" })],
  ["I3", "a gap in the sequence", ({ rows }) => void rows.events.splice(2, 1)],
  [
    "I3",
    "a session that is still held",
    ({ rows }) => change(first(rows.sessions), { activeRunId: "run_a" }),
  ],
  ["I3", "a job that was never sent", ({ rows }) => change(first(rows.outbox), { sentAt: null })],
  ["I3", "an engine that still plays", ({ rows }) => change(first(rows.engineRuns), { endedAt: null })],
  ["I3", "a generation that was left out", ({ rows }) => change(first(rows.outbox), { id: "run_a:2" })],
  ["I3", "a play that was left out", ({ rows }) => change(first(rows.engineSteps), { name: "play-2" })],
  [
    "I3",
    "turns that overlap",
    ({ rows }) =>
      rows.runs.push({
        ...first(rows.runs),
        id: "run_b",
        requestId: "req_b",
        startedAt: at(5),
        endedAt: at(7),
      }),
  ],
  [
    "I2",
    "a steer that no turn read",
    ({ rows }) =>
      rows.requests.push({
        ...first(rows.requests),
        id: "req_b",
        position: 2,
        mode: "steer",
        joinedRunId: "run_a",
        joinedAfterSeq: 2,
      }),
  ],
  [
    "stop",
    "a turn that continued after an interrupt",
    ({ acknowledged }) =>
      acknowledged.push({
        ...first(acknowledged),
        requestId: "req_b",
        mode: "interrupt",
        atMs: at(2).getTime(),
      }),
  ],
  ["prompts", "a call without its result", ({ prompts }) => first(prompts).unpaired.push("call_1")],
  ["prompts", "a prompt without the task", ({ prompts }) => void first(prompts).tags.pop()],
  ["prompts", "a message that is read twice", ({ prompts }) => first(prompts).tags.push("abcd")],
  [
    "compaction",
    "a compaction without an end",
    ({ rows }) => change(rows.events[1] ?? first(rows.events), { kind: "turn.compacting" }),
  ],
  ["I4", "an event without its callback row", ({ rows }) => void rows.deliveries.pop()],
  [
    "I4",
    "a callback row of another transaction",
    ({ rows }) => change(first(rows.deliveries), { createdAt: at(2) }),
  ],
  ["I5", "a delivery that was abandoned", ({ rows }) => change(first(rows.deliveries), { state: "pending" })],
  ["I5", "a drop after one attempt", ({ rows }) => change(first(rows.deliveries), { state: "dropped" })],
  ["I5", "other bytes on the wire", ({ traffic }) => change(first(traffic), { body: "{}" })],
  ["I5", "a delivery that the receiver did not get", ({ traffic }) => void traffic.splice(0, 2)],
  [
    "I6",
    "a command that ran twice",
    ({ executions }) => executions.push({ nonce: "abcd", atMs: at(3).getTime() }),
  ],
  [
    "I6",
    "a command that ran after its result",
    ({ executions }) => change(first(executions), { atMs: at(5).getTime() }),
  ],
  [
    "I6",
    "an unknown outcome that the model was not shown",
    ({ rows }) => change(first(rows.toolCalls), { state: "unknown", resultText: "Outcome unknown" }),
  ],
  ["I6", "a call without an end", ({ rows }) => change(first(rows.toolCalls), { state: "started" })],
  [
    "I7",
    "a ready value that is invalid",
    ({ rows }) => change(first(rows.deliverables), { value: { name: "a" } }),
  ],
  ["I8", "an open turn that reads idle", ({ samples }) => change(first(samples), { turnState: "idle" })],
  [
    "I9",
    "a process that was left behind",
    ({ leftProcesses }) => leftProcesses.push({ pid: 1, name: "chromium" }),
  ],
  ["I10", "a stream that skips an event", ({ streams }) => change(first(streams), { after: 1 })],
  ["wakes", "a run that is still parked", ({ rows }) => change(first(rows.runs), { parkedAt: at(5) })],
  [
    "wakes",
    "a question that is still open",
    ({ rows }) => change(first(rows.elicitations), { state: "open", answer: null }),
  ],
  [
    "wakes",
    "an answer that was lost",
    ({ rows }) => change(first(rows.elicitations), { state: "withdrawn", answer: null }),
  ],
  [
    "wakes",
    "an answer that the model was not shown",
    ({ acknowledgedAnswers }) => change(first(acknowledgedAnswers), { text: "else" }),
  ],
  [
    "wakes",
    "a wait without a wake",
    ({ rows }) => change(first(rows.events.filter(({ seq }) => seq === 2)), { kind: "turn.waiting" }),
  ],
  ["agents", "a sub-agent that is still live", ({ rows }) => rows.agents.push(subAgent(null, false))],
  ["agents", "a result that was lost", ({ rows }) => rows.agents.push(subAgent("succeeded", false))],
  [
    "agents",
    "a sub-agent's end that was not announced to the parent",
    ({ rows }) => rows.agents.push(subAgent("succeeded", true)),
  ],
  [
    "agents",
    "a task that was delegated twice",
    ({ rows }) => rows.agents.push(subAgent("succeeded", true), subAgent("succeeded", true)),
  ],
  [
    "variants",
    "a revision that is gone",
    ({ rows }) => rows.variants.push({ sessionId: "ses_a", key: "abcd", revision: 1 }),
  ],
  [
    "variants",
    "a revision that was not announced",
    ({ rows }) => {
      rows.variants.push({ sessionId: "ses_a", key: "abcd", revision: 1 });
      rows.variantRevisions.push(revision(null));
    },
  ],
  ["variants", "half a check", ({ rows }) => rows.variantRevisions.push(revision("pass"))],
  [
    "variants",
    "a revision of a call that is lost",
    ({ rows }) => change(first(rows.toolCalls), { name: "apply_variant", input: { variant: "abcd" } }),
  ],
  [
    "publications",
    "a current release that is gone",
    ({ rows }) => change(first(rows.publications), { release: 2, newestRelease: 2 }),
  ],
  [
    "publications",
    "a script that was damaged",
    ({ rows }) => change(first(rows.releases), { script: "run" }),
  ],
  [
    "publications",
    "a release that was not announced",
    ({ rows }) => change(first(rows.releases), { id: "rel_b" }),
  ],
  [
    "publications",
    "a release of a call that is lost",
    ({ rows }) => {
      const call = { name: "publish_variant", input: { variant: "abcd" }, callId: "call_3" };
      change(first(rows.toolCalls), call);
    },
  ],
  [
    "publications",
    "a call that created two releases",
    ({ rows }) => {
      const call = { name: "publish_variant", input: { variant: "abcd" }, callId: "call_2" };
      change(first(rows.toolCalls), call);
      rows.releases.push({ ...first(rows.releases), number: 2 });
    },
  ],
  [
    "publications",
    "an acknowledged change that was lost",
    ({ publishing: { changes, readings } }) => {
      changes.push({ variant: "abcd", wanted: "unpublish", release: null });
      readings.push({ ...publicationReading(), changeCount: 1 });
    },
  ],
  [
    "publications",
    "a script that is not the current release's",
    ({ publishing }) => change(first(first(publishing.readings).scripts), { integrity: "sha384-" }),
  ],
  [
    "publications",
    "an unpublished script that is served",
    ({ publishing, rows }) => {
      change(first(first(publishing.readings).publications), { publication: null });
      change(first(rows.publications), { release: null });
    },
  ],
  [
    "publications",
    "a withdrawn release that is served",
    ({ rows }) => change(first(rows.releases), { withdrawnAt: at(9) }),
  ],
  [
    "publications",
    "a publication that the interface lost",
    ({ publishing }) => publishing.readings.push({ changeCount: 0, publications: [], scripts: [] }),
  ],
  [
    "publications",
    "a deletion that did not name what stays published",
    ({ publishing }) =>
      publishing.deletions.push({ sessionId: "ses_a", nonces: [], readingCount: 1, publicationIds: [] }),
  ],
  ["I11", "a secret in a log", ({ haystacks }) => haystacks.push({ name: "the log", text: "a canary-1 b" })],
];

const revision = (checkStatus: string | null) => ({
  sessionId: "ses_a",
  key: "abcd",
  number: 1,
  checkStatus,
  checkReport: null,
  checkedAt: null,
});

function subAgent(outcome: string | null, isSubmitted: boolean) {
  return {
    sessionId: "ses_c",
    parentSessionId: "ses_a",
    rootSessionId: "ses_a",
    objective: "CHILD abcda",
    spawnRunId: "run_a",
    outcome,
    isSubmitted,
  };
}

for (const [id, title, spoil] of violations) {
  test(`${id} finds ${title}`, () => {
    const evidence = makeEvidence();
    spoil(evidence);
    const found = judge(evidence);
    assert.ok(
      found.some((violation) => violation.startsWith(`${id}:`)),
      found.join("; ") || "nothing was found",
    );
  });
}
