import { createHash } from "node:crypto";
import type { SchemaJob } from "./schema-job.ts";
import {
  createSchemaThread,
  type JobLimits,
  type SchemaThread,
  type ThreadOutcome,
} from "./schema-thread.ts";

type PoolOptions = {
  /** How many threads there are at most. */
  threadsMax: number;
  /** How much memory the objects of each thread may take. */
  memoryMb: number;
};

/** Worker threads that share the jobs of all owners. */
type SchemaPool = {
  /** @throws when a thread cannot start, fails by a bug, or the pool was closed. */
  run: (job: SchemaJob, ownerId: string, limits: JobLimits) => Promise<ThreadOutcome>;
  /** How many jobs of an owner wait for a thread. */
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
  /** The schemas that the thread worked on last, and has cached. */
  schemaHashes: string[];
  idleTimer: NodeJS.Timeout | undefined;
};

/** As many schemas as a thread caches. */
const HASHES_KEPT = 8;
const IDLE_MS = 30_000;

/**
 * Owners take turns, and none has all threads, so that a job of another one finds a free thread however many a heavy
 * caller sends. Threads start when they are needed, and all but the first end when they have been idle.
 */
export function createSchemaPool({ threadsMax, memoryMb }: PoolOptions): SchemaPool {
  const slots = Array.from(
    { length: threadsMax },
    (): Slot => ({
      thread: createSchemaThread(memoryMb),
      task: undefined,
      schemaHashes: [],
      idleTimer: undefined,
    }),
  );
  /** Waiting tasks by owner; the owner whose turn is next comes first. */
  const waiting = new Map<string, Task[]>();
  const perOwnerMax = Math.max(1, threadsMax - 1);
  let isClosed = false;

  const takeNext = (): Task | undefined => {
    for (const [ownerId, tasks] of waiting) {
      if (slots.filter(({ task }) => task?.ownerId === ownerId).length >= perOwnerMax) continue;
      const task = tasks.shift();
      waiting.delete(ownerId);
      if (tasks.length > 0) waiting.set(ownerId, tasks);
      return task;
    }
    return undefined;
  };

  /** A free thread that has the schema cached, else one that runs, else the first. */
  const pickSlot = (schemaHash: string): Slot | undefined => {
    const free = slots.filter(({ task }) => task === undefined);
    return (
      free.find(({ schemaHashes, thread }) => thread.isStarted() && schemaHashes.includes(schemaHash)) ??
      free.find(({ thread }) => thread.isStarted()) ??
      free[0]
    );
  };

  const dispatch = (): void => {
    while (slots.some(({ task }) => task === undefined)) {
      const task = takeNext();
      const slot = task && pickSlot(task.schemaHash);
      if (task === undefined || slot === undefined) return;
      void play(slot, task);
    }
  };

  const play = async (slot: Slot, task: Task): Promise<void> => {
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
    if (slot !== slots[0]) slot.idleTimer = setTimeout(() => release(slot), IDLE_MS).unref();
    dispatch();
  };

  const release = (slot: Slot): void => {
    slot.schemaHashes = [];
    void slot.thread.stop();
  };

  return {
    run(job, ownerId, limits) {
      if (isClosed) return Promise.reject(new Error("the schema threads are closed"));
      const schemaHash = createHash("sha256").update(job.schema).digest("base64");
      const task = { job, ownerId, limits, schemaHash, result: Promise.withResolvers<ThreadOutcome>() };
      const tasks = waiting.get(ownerId);
      if (tasks) tasks.push(task);
      else waiting.set(ownerId, [task]);
      dispatch();
      return task.result.promise;
    },
    countWaiting: (ownerId) => waiting.get(ownerId)?.length ?? 0,
    async close() {
      isClosed = true;
      for (const tasks of waiting.values())
        for (const { result } of tasks) result.reject(new Error("the schema threads are closed"));
      waiting.clear();
      for (const { idleTimer } of slots) clearTimeout(idleTimer);
      await Promise.all(slots.map(({ thread }) => thread.close()));
    },
  };
}
