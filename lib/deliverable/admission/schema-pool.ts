import { createHash } from "node:crypto";
import type { SchemaJob } from "./schema-job.ts";
import {
  createSchemaThread,
  type JobLimits,
  type SchemaThread,
  type ThreadOutcome,
} from "./schema-thread.ts";

type PoolOptions = {
  threadsMax: number;
  /** Heap limit of each thread. */
  memoryMb: number;
};

/** Worker threads that share the jobs of all owners. */
type SchemaPool = {
  /** Runs a job on the next free thread. @throws if the thread cannot start or has a bug, or if the pool is closed. */
  run: (job: SchemaJob, ownerId: string, limits: JobLimits) => Promise<ThreadOutcome>;
  /** Returns the number of an owner's jobs that wait for a thread. */
  countWaiting: (ownerId: string) => number;
  close: () => Promise<void>;
};

type Task = {
  job: SchemaJob;
  ownerId: string;
  limits: JobLimits;
  schemaHash: string;
  result: PromiseWithResolvers<ThreadOutcome>;
};

type Slot = {
  thread: SchemaThread;
  task: Task | undefined;
  /** Hashes of the schemas that the thread used in its latest tasks. The thread has these schemas in its cache. */
  schemaHashes: string[];
  idleTimer: NodeJS.Timeout | undefined;
};

/** Number of schemas that a thread caches. */
const HASHES_KEPT = 8;
const IDLE_MS = 30_000;

type Pool = {
  slots: Slot[];
  /** Waiting tasks by owner. The first owner in the map is served next. */
  waiting: Map<string, Task[]>;
  isClosed: boolean;
};

const closedError = () => new Error("the schema threads are closed");

/**
 * Creates a pool in which owners take turns. No owner uses all threads (unless the pool has only one thread), so that
 * the jobs of one owner cannot block those of other owners. Threads start on demand, and all but the first stop when
 * they are idle.
 */
export function createSchemaPool({ threadsMax, memoryMb }: PoolOptions): SchemaPool {
  const createSlot = (): Slot => ({
    thread: createSchemaThread(memoryMb),
    task: undefined,
    schemaHashes: [],
    idleTimer: undefined,
  });
  const pool: Pool = {
    slots: Array.from({ length: threadsMax }, createSlot),
    waiting: new Map(),
    isClosed: false,
  };
  return {
    run(job, ownerId, limits) {
      if (pool.isClosed) return Promise.reject(closedError());
      const schemaHash = createHash("sha256").update(job.schema).digest("base64");
      const task = { job, ownerId, limits, schemaHash, result: Promise.withResolvers<ThreadOutcome>() };
      const tasks = pool.waiting.get(ownerId);
      if (tasks) tasks.push(task);
      else pool.waiting.set(ownerId, [task]);
      dispatch(pool);
      return task.result.promise;
    },
    countWaiting: (ownerId) => pool.waiting.get(ownerId)?.length ?? 0,
    async close() {
      pool.isClosed = true;
      for (const tasks of pool.waiting.values()) for (const { result } of tasks) result.reject(closedError());
      pool.waiting.clear();
      for (const { idleTimer } of pool.slots) clearTimeout(idleTimer);
      await Promise.all(pool.slots.map(({ thread }) => thread.close()));
    },
  };
}

/** Starts waiting tasks on free threads. */
function dispatch(pool: Pool): void {
  while (pool.slots.some(({ task }) => task === undefined)) {
    const task = dequeue(pool);
    const slot = task && pickSlot(pool, task.schemaHash);
    if (task === undefined || slot === undefined) return;
    void runTask(pool, slot, task);
  }
}

/** Takes the next task of the first owner that may use another thread, and moves this owner to the end of the map. */
function dequeue({ slots, waiting }: Pool): Task | undefined {
  const perOwnerMax = Math.max(1, slots.length - 1);
  for (const [ownerId, tasks] of waiting) {
    if (slots.filter(({ task }) => task?.ownerId === ownerId).length >= perOwnerMax) continue;
    const task = tasks.shift();
    waiting.delete(ownerId);
    if (tasks.length > 0) waiting.set(ownerId, tasks);
    return task;
  }
  return undefined;
}

/**
 * Picks a free thread: preferably one that has the schema cached, otherwise one that is already started, otherwise any
 * free one. Returns undefined if no thread is free.
 */
function pickSlot({ slots }: Pool, schemaHash: string): Slot | undefined {
  const free = slots.filter(({ task }) => task === undefined);
  return (
    free.find(({ schemaHashes, thread }) => thread.isStarted() && schemaHashes.includes(schemaHash)) ??
    free.find(({ thread }) => thread.isStarted()) ??
    free[0]
  );
}

async function runTask(pool: Pool, slot: Slot, task: Task): Promise<void> {
  slot.task = task;
  clearTimeout(slot.idleTimer);
  slot.schemaHashes = [
    task.schemaHash,
    ...slot.schemaHashes.filter((hash) => hash !== task.schemaHash),
  ].slice(0, HASHES_KEPT);
  try {
    task.result.resolve(await slot.thread.run(task.job, task.limits));
  } catch (error) {
    task.result.reject(error);
  }
  if (!slot.thread.isStarted()) slot.schemaHashes = [];
  slot.task = undefined;
  if (slot !== pool.slots[0]) slot.idleTimer = setTimeout(() => stopIdle(slot), IDLE_MS).unref();
  dispatch(pool);
}

function stopIdle(slot: Slot): void {
  slot.schemaHashes = [];
  void slot.thread.stop();
}
