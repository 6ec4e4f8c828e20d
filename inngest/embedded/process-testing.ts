import { Inngest } from "inngest";
import { openTestPostgres } from "#db/testing.ts";
import { embeddedClientOptions } from "./client-options.ts";
import { createEmbeddedEngine } from "./create-embedded-engine.ts";

/**
 * The message that starts the engine. A test runs this file as a separate process on a shared Postgres, and controls
 * the process over IPC. There are two other messages: `"send"` sends the event that starts both functions, and
 * `"release"` lets the step `work` end if `isHeld` is set.
 */
type Start = { url: string; leaseMs: number; sweepMs: number; name: string; isHeld: boolean };

/** A message in which the process reports to the test what it has done. */
export type ProcessNews =
  | { kind: "ready" }
  | { kind: "step"; name: string }
  | { kind: "refused"; path: string }
  | { kind: "failed"; error: string };

const report = (news: ProcessNews) => process.send?.(news);
const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const released = Promise.withResolvers<void>();

async function start({ url, leaseMs, sweepMs, name, isHeld }: Start) {
  const { db, name: process } = await openTestPostgres({ driver: "pg", url });
  const engine = createEmbeddedEngine({ db, logger: quiet, process, leaseMs, sweepMs });
  const observed: typeof fetch = async (input, init) => {
    const answer = await engine.fetch(input, init);
    if (answer.status === 409) report({ kind: "refused", path: new URL(String(input)).pathname });
    return answer;
  };
  const client = new Inngest({ id: "test", ...embeddedClientOptions({ fetch: observed }, quiet) });
  const busy = client.createFunction({ id: "busy", triggers: { event: "go" } }, async ({ step }) => {
    await step.run("first", () => name);
    await step.run("work", async () => {
      report({ kind: "step", name: "work" });
      if (isHeld) await released.promise;
      return name;
    });
    return step.run("last", () => {
      report({ kind: "step", name: "last" });
      return name;
    });
  });
  const asleep = client.createFunction({ id: "asleep", triggers: { event: "go" } }, async ({ step }) => {
    await step.sleep("nap", "1s");
    return step.run("where", () => {
      report({ kind: "step", name: "where" });
      return name;
    });
  });
  await engine.start({ client, functions: [busy, asleep] });
  report({ kind: "ready" });
  return client;
}

let client: Promise<Inngest> | undefined;

process.on("message", (message: Start | "send" | "release") => {
  const act = async () => {
    if (message === "send") await (await client)?.send({ name: "go" });
    else if (message === "release") released.resolve();
    else {
      client = start(message);
      await client;
    }
  };
  act().catch((error: unknown) => report({ kind: "failed", error: String(error) }));
});
// The connection closes when the process of the test ends. This process then ends, too.
process.on("disconnect", () => process.exit());
