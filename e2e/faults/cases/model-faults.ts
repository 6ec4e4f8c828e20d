import type { FaultCase } from "../fault-case.ts";
import type { LineOf } from "../recorder/log-line.ts";
import type { Evidence } from "../world/evidence.ts";
import type { Random } from "../world/random.ts";

type ModelFault = {
  name: string;
  title: string;
  /** The fault that the scripted model simulates. A function adds an argument that depends on the seed. */
  fault: string | ((random: Random) => string);
  /** The outcome that the first request must have. */
  outcome: "succeeded" | "errored";
  deliverable?: "ready" | "failed";
  /** The number of runs that the first request must have. */
  runs?: number;
  /** The shortest time that is allowed between the first two model calls of the first request, in milliseconds. */
  gapMs?: number;
  seedsMax?: number;
};

const cutAt = (random: Random) => random.between(1, 2_500);

const MODEL_FAULTS: ModelFault[] = [
  { name: "model-429", title: "429 twice", fault: "429", outcome: "succeeded", runs: 3 },
  {
    name: "model-retry-after",
    title: "429 with Retry-After: 2",
    fault: "429-retry-after",
    outcome: "succeeded",
    runs: 2,
    gapMs: 2_000,
  },
  { name: "model-500", title: "500 twice", fault: "500", outcome: "succeeded", runs: 3 },
  { name: "model-500-always", title: "500 for good", fault: "500-always", outcome: "errored", runs: 5 },
  { name: "model-400", title: "400", fault: "400", outcome: "errored", runs: 1 },
  {
    name: "model-cut",
    title: "connection cut at byte k",
    outcome: "succeeded",
    fault: (random) => `cut:${cutAt(random)}`,
    seedsMax: 5,
  },
  {
    name: "model-cut-cleanly",
    title: "body ended at byte k",
    outcome: "succeeded",
    fault: (random) => `cut-cleanly:${cutAt(random)}`,
    seedsMax: 5,
  },
  { name: "model-slow", title: "one character a second", fault: "slow", outcome: "succeeded", runs: 1 },
  {
    name: "model-bad-arguments",
    title: "arguments that are not JSON",
    fault: "bad-arguments",
    outcome: "succeeded",
  },
  {
    name: "model-unknown-tool",
    title: "a tool that does not exist",
    fault: "unknown-tool",
    outcome: "succeeded",
  },
  { name: "model-not-json", title: "502 with a page for an answer", fault: "not-json", outcome: "succeeded" },
  { name: "model-failed", title: "response.failed in mid-answer", fault: "failed", outcome: "succeeded" },
  { name: "model-refusal", title: "refusal", fault: "refusal", outcome: "errored", runs: 1 },
  {
    name: "model-length",
    title: "cut off at the output limit",
    fault: "length",
    outcome: "errored",
    runs: 1,
  },
  {
    name: "structured-refusal",
    title: "structured call refused",
    fault: "structured-refusal",
    outcome: "succeeded",
    deliverable: "failed",
  },
  {
    name: "structured-length",
    title: "structured call cut off",
    fault: "structured-length",
    outcome: "succeeded",
    deliverable: "failed",
  },
  {
    name: "structured-500",
    title: "structured call fails once",
    fault: "structured-500",
    outcome: "succeeded",
    deliverable: "ready",
    runs: 2,
  },
  {
    name: "structured-not-json",
    title: "structured answer is not JSON",
    fault: "structured-not-json",
    outcome: "succeeded",
    deliverable: "failed",
  },
  {
    name: "structured-wrong-twice",
    title: "wrong schema twice",
    fault: "wrong-twice",
    outcome: "succeeded",
    deliverable: "failed",
    runs: 1,
  },
];

/** The model misbehaves in the turn of a session's first message. A follow-up in the session must still succeed. */
export const modelFaults: FaultCase[] = MODEL_FAULTS.map((model) => ({
  name: model.name,
  group: "model",
  title: model.title,
  seedsMax: model.seedsMax ?? 1,
  async play(world) {
    await world.start();
    const fault = typeof model.fault === "string" ? model.fault : model.fault(world.random);
    const created = await world.create(`model:${fault}`);
    if (created) await world.followUp(created.sessionId, "plain");
    await world.waitUntilIdle();
  },
  findViolations: (evidence) => findViolations(model, evidence),
}));

function findViolations(model: ModelFault, { rows, acknowledged, traffic }: Evidence): string[] {
  const [first, second] = acknowledged;
  if (!first || !second) return ["the calls were not acknowledged"];
  const wrong: string[] = [];
  const runsOf = (requestId: string) =>
    rows.runs.filter((run) => run.requestId === requestId).sort((a, b) => a.attempt - b.attempt);
  const own = runsOf(first.requestId);
  const last = own.at(-1);
  if (last?.state !== model.outcome) wrong.push(`the request ended ${last?.state}: ${last?.error}`);
  if (model.runs !== undefined && own.length !== model.runs) wrong.push(`it took ${own.length} runs`);
  if (own.slice(0, -1).some((run) => !run.willRetry) || last?.willRetry) wrong.push("willRetry is wrong");
  if (runsOf(second.requestId).at(-1)?.state !== "succeeded") wrong.push("the follow-up did not succeed");
  const deliverable = rows.deliverables.find((one) => one.runId === last?.id);
  if (deliverable?.status !== model.deliverable)
    wrong.push(`the deliverable is ${deliverable?.status}: ${deliverable?.error}`);
  const calls = traffic.filter(
    (line): line is LineOf<"model"> =>
      line.type === "model" && line.nonce === first.nonce && line.kind === "turn" && line.outcome === "open",
  );
  const [one, two] = calls;
  if (model.gapMs !== undefined && (!one || !two || two.atMs - one.atMs < model.gapMs))
    wrong.push(`the model was called again too soon`);
  return wrong;
}
