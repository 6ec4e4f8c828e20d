import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { API_KEY, type RunningService, startService, userMessage } from "../fixtures/service.ts";
import { type Child, startChild } from "./child.ts";
import type { LoggedCall, Prompt } from "./model/main.ts";
import { playTurn, playTurns } from "./play-turn.ts";
import type { Subject } from "./subject.ts";

/** The processes and settings that measurements use. */
export type Rig = Awaited<ReturnType<typeof createRig>>;

/** Number of turns before the first measurement. Code is slow until it has run a few times. */
const WARM_UP = 25;

/** Returns a value of NODE_OPTIONS with which a Node process loads a file of `observe/` first. */
export const observeWith = (file: string): string =>
  `--expose-gc --disable-warning=ExperimentalWarning --import=${new URL(`./observe/${file}`, import.meta.url)}`;

/**
 * Starts the scripted model, the service and the bare loop (the baseline), each in its own process. Then plays turns on
 * the service and the loop as a warm-up.
 */
export async function createRig(options: {
  database: string | undefined;
  isBuilt: boolean;
  observe?: string;
}) {
  const started: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const stop of started.toReversed()) await stop();
  };
  try {
    const model = await startChild("./model/main.ts");
    started.push(model.stop);
    const folder = await mkdtemp(join(tmpdir(), "bench-"));
    started.push(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
    const modelUrl = `http://127.0.0.1:${model.ready.port}/v1`;
    const nodeOptions = observeWith(options.observe ?? "report-memory.ts");
    const variables = {
      OPENAI_BASE_URL: modelUrl,
      AGENT_MAX_STEPS: "2000",
      BENCH_FOLDER: folder,
      ...(options.database !== undefined && { DATABASE_URL: options.database }),
    };
    const service = await startService({ ...variables, NODE_OPTIONS: nodeOptions });
    started.push(() => service.close());
    const bare = await startChild("./bare/main.ts", { BENCH_MODEL_URL: modelUrl, NODE_OPTIONS: nodeOptions });
    started.push(bare.stop);
    const subject = describeService(service);
    await playTurn(subject, { tools: 0 });
    const prompt = (await model.ask({ type: "prompt" })) as Prompt;
    await bare.ask(prompt);
    const baseline = describeLoop("bare loop", bare);
    for (const each of [subject, baseline]) await playTurns(each, { tools: 1 }, WARM_UP, 2);
    return {
      ...options,
      service,
      subject,
      baseline,
      variables,
      folder,
      close,
      /** The instructions and tools that the service sends with every model call. */
      prompt,
      modelUrl,
      /** Returns the model calls of tagged turns since the last call of `takeCalls`. */
      takeCalls: async () => (await model.ask({ type: "take" })) as LoggedCall[],
      readBareMemory: async () => (await bare.ask("memory")) as NodeJS.MemoryUsage,
      modelPid: model.pid,
      /** Returns the absolute path of a file of this folder. */
      pathOf: (file: string) => fileURLToPath(new URL(file, import.meta.url)),
    };
  } catch (error) {
    await close();
    throw error;
  }
}

export const describeService = (service: RunningService): Subject => ({
  name: "service",
  pid: service.pid ?? 0,
  baseUrl: service.baseUrl,
  createPath: "/api/session",
  headers: { authorization: `Bearer ${API_KEY}` },
  bodyOf: (text) => ({ messages: [userMessage(text)] }),
});

/** Describes a process that runs `bare/main.ts`. */
export const describeLoop = (name: "bare loop" | "minimal loop", loop: Child): Subject => ({
  name,
  pid: loop.pid,
  baseUrl: `http://127.0.0.1:${loop.ready.port}`,
  createPath: "/turns",
  headers: {},
  bodyOf: (text) => ({ text }),
});

/** Describes a process that runs `bare/agent-server.ts`. It accepts the same requests as the service. */
export const describeAgentServer = (server: Child): Subject => ({
  name: "agent server",
  pid: server.pid,
  baseUrl: `http://127.0.0.1:${server.ready.port}`,
  createPath: "/sessions",
  headers: { authorization: `Bearer ${API_KEY}` },
  bodyOf: (text) => ({ messages: [userMessage(text)] }),
});

/** Starts the agent server, which keeps everything in memory, with the service's instructions and tools. */
export async function startAgentServer({
  modelUrl,
  prompt,
}: Pick<Rig, "modelUrl" | "prompt">): Promise<Child> {
  const server = await startChild("./bare/agent-server.ts", {
    BENCH_MODEL_URL: modelUrl,
    BENCH_KEY: API_KEY,
  });
  await server.ask(prompt);
  return server;
}
