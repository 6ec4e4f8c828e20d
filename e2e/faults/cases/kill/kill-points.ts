import type { FaultCase } from "../../fault-case.ts";
import type { World } from "../../world/open-world.ts";
import { LINGERING } from "../browsing.ts";

type KillPoint = {
  name: string;
  title: string;
  /** The kinds of first message whose turns reach the point. The seed picks one of them. Default: `tools`. */
  kinds?: ("tools" | "structured" | "browser" | "long" | "delegate" | "edit")[];
  /** The behaviour of the callback receiver, which is named in the callback URL, such as `500-x3`. */
  hook?: string;
  /**
   * The service is killed when it reaches the point for the nth time. The seed picks n from these numbers. Default: 1.
   */
  arrivals?: number[];
  /** Longest time from the arrival at the point to the kill, in milliseconds. Default: 20. */
  spreadMs?: number;
};

/** Points in the code at which the service can be killed. Source: `faults.md`, Kill points. */
const KILL_POINTS: KillPoint[] = [
  { name: "K01", title: "create, before the transaction" },
  { name: "K02", title: "create, after the commit and before the answer" },
  { name: "K03", title: "create, committed and the job not sent" },
  { name: "K04", title: "job sent, before the claim", arrivals: [1, 2] },
  { name: "K05", title: "claimed", arrivals: [1, 2] },
  { name: "K06", title: "in the probe", kinds: ["structured"], arrivals: [1, 2], spreadMs: 25 },
  { name: "K07", title: "probe recorded", kinds: ["structured"], arrivals: [1, 2] },
  { name: "K08", title: "model stream before its first byte", arrivals: [1, 2, 3] },
  { name: "K09", title: "model stream in mid-text", arrivals: [1, 3, 6, 10, 15] },
  { name: "K10", title: "model stream in mid-tool-arguments", arrivals: [1, 2, 3] },
  { name: "K11", title: "stream ended, step not committed", arrivals: [1, 2, 3] },
  { name: "K12", title: "step committed", arrivals: [1, 2, 3] },
  { name: "K13", title: "tool before it starts", arrivals: [1, 2] },
  { name: "K14", title: "tool running", arrivals: [1, 2], spreadMs: 90 },
  { name: "K15", title: "tool done, result not recorded", arrivals: [1, 2] },
  { name: "K16", title: "result recorded, next model call not made", arrivals: [1, 2] },
  { name: "K17", title: "structured call in flight", kinds: ["structured"], arrivals: [1, 2], spreadMs: 60 },
  { name: "K18", title: "structured call returned, not validated", kinds: ["structured"], arrivals: [1, 2] },
  { name: "K19", title: "correction in flight", kinds: ["structured"], spreadMs: 60 },
  { name: "K20", title: "before the terminal transaction", kinds: ["structured", "tools"], arrivals: [1, 2] },
  {
    name: "K21",
    title: "after it, before the first callback attempt",
    kinds: ["structured", "tools"],
    arrivals: [1, 2],
  },
  { name: "K22", title: "receiver has the body, outcome not recorded", hook: "slow", arrivals: [1, 2, 3] },
  { name: "K23", title: "sleeping between attempts", hook: "500-x3", arrivals: [1, 2, 3], spreadMs: 400 },
  { name: "K24", title: "fifth attempt failed, not yet dropped", hook: "500-x9", arrivals: [1, 2] },
  { name: "K25", title: "follow-up committed, not answered" },
  { name: "K26", title: "compaction half done", kinds: ["long"], arrivals: [1, 2], spreadMs: 5 },
  { name: "K27", title: "browser provisioning", kinds: ["browser"], spreadMs: 120 },
  { name: "K28", title: "browser navigating", kinds: ["browser"], spreadMs: 60 },
  { name: "K52", title: "browser host started, not recorded", kinds: ["browser"], spreadMs: 60 },
  { name: "K53", title: "browser host attached, no page yet", kinds: ["browser"], spreadMs: 120 },
  { name: "K29", title: "sub-agents recorded, not started", kinds: ["delegate"] },
  {
    name: "K30",
    title: "a sub-agent's result recorded, its parent not woken",
    kinds: ["delegate"],
    arrivals: [1, 2],
  },
  { name: "K34", title: "a revision stored, not shown", kinds: ["edit"] },
  { name: "K35", title: "in the check of a revision", kinds: ["edit"], spreadMs: 4_000 },
  { name: "K36", title: "in taking previews", kinds: ["edit"], spreadMs: 1_500 },
];

const DIE_WITHIN_MS = 60_000;

/** With this context size, a turn of the kind `long` needs a compaction. */
const SMALL_CONTEXT = { AGENT_CONTEXT_TOKENS: "12000" };
/** Longest time from the creation of the session, or from the restart, until the extra message is sent. */
const EXTRA_MESSAGE_MAX_MS = 1_200;

/** `kill -9` at each of `KILL_POINTS`. Each session has a follow-up in the queue. */
export const killPoints: FaultCase[] = KILL_POINTS.map((point) => ({
  name: point.name,
  group: "kill",
  title: point.title,
  play: (world) => playKill(world, point),
}));

/**
 * The extra messages, of which the seed picks one for each run. Those that end in `-late` are sent after the restart.
 */
const EXTRA_MESSAGES = ["nothing", "steer", "steer-late", "interrupt-late"] as const;

async function playKill(world: World, point: KillPoint): Promise<void> {
  const { random, problems } = world;
  const arrival = random.pick(point.arrivals ?? [1]);
  const spread = point.spreadMs ?? 20;
  const delayMs = random.next() < 0.5 ? 0 : random.between(1, spread);
  const kind = random.pick(point.kinds ?? ["tools"]);
  const fault = `${point.name}:${arrival}:kill9${delayMs > 0 ? `@${delayMs}` : ""}`;
  await world.start(fault, {
    ...(kind === "long" && SMALL_CONTEXT),
    // A host that outlives the service is attached by the next process; another one ends.
    ...(kind === "browser" && random.next() < 0.5 && LINGERING),
  });
  const created = await world.create(kind, {
    ...(point.hook !== undefined && { hook: point.hook }),
    ...(kind === "delegate" && { body: { subAgents: true } }),
    ...(kind === "browser" && { body: { targetUrl: `${world.recorder.receiverUrl}/page/target` } }),
  });
  const nextKind = kind === "browser" ? "plain" : kind;
  // A browser session gets no `steer` before the kill. A turn that reads a steer before its first model call never opens
  // a browser, so it would never reach the kill point.
  const extra = random.pick(
    kind === "browser" ? EXTRA_MESSAGES.filter((each) => each !== "steer") : EXTRA_MESSAGES,
  );
  const extraAfterMs = random.between(0, EXTRA_MESSAGE_MAX_MS);
  // Before the kill, only a steer may be sent. An interrupt could end the turn before the turn reaches the point.
  if (created && extra === "steer") world.followUpLater(created.sessionId, nextKind, "steer", extraAfterMs);
  if (created) await world.followUp(created.sessionId, nextKind);
  if (!(await world.waitForDeath(DIE_WITHIN_MS))) {
    problems.push(`${point.name} was not reached ${arrival} times`);
    return world.waitUntilIdle();
  }
  await world.restart();
  const [first] = world.acknowledged;
  if (!created && first) await world.followUp(first.sessionId, kind);
  if (first && extra === "steer-late") world.followUpLater(first.sessionId, nextKind, "steer", extraAfterMs);
  if (first && extra === "interrupt-late")
    world.followUpLater(first.sessionId, nextKind, "interrupt", extraAfterMs);
  await world.waitUntilIdle();
}

/**
 * Points inside durable steps. The engine repeats a durable step that fails because of the service's infrastructure.
 */
const THROWING = ["K06", "K07", "K11", "K12", "K13", "K15", "K16", "K18", "K20", "K21", "K22", "K24", "K26"];

/** The durable step at the kill point throws, before or after its work. The process keeps running. */
export const throwPoints: FaultCase[] = (["throw", "exec-then-throw"] as const).flatMap((action) =>
  KILL_POINTS.filter(({ name }) => THROWING.includes(name)).map(
    (point): FaultCase => ({
      name: `${point.name}-${action === "throw" ? "throw" : "done-throw"}`,
      group: "throw",
      title: `${point.title}: ${action}`,
      seedsMax: 1,
      async play(world) {
        const kind = world.random.pick(point.kinds ?? ["tools"]);
        await world.start(
          `${point.name}:${world.random.pick(point.arrivals ?? [1])}:${action}`,
          kind === "long" ? SMALL_CONTEXT : {},
        );
        world.expectRepeats();
        const created = await world.create(kind, point.hook === undefined ? {} : { hook: point.hook });
        if (created) await world.followUp(created.sessionId, kind);
        await world.retryUnanswered();
        await world.waitUntilIdle();
      },
    }),
  ),
);
