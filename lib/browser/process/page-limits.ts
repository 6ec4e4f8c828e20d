import { readFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import type { Logger } from "#lib/log/logger.ts";
import type { ChromiumUse } from "./browser-provider.ts";
import type { Devtools, DevtoolsConnection } from "./devtools-connection.ts";

/** What the pages in one renderer process may take. Chromium runs pages of different sessions in different processes. */
export type PageLimits = {
  /** Memory that only this process uses, in bytes. 0 for no limit. */
  memoryBytes: number;
  /** Processors, on average over `cpuWindowMs`. Applies while other sessions use the same Chromium. */
  processors: number;
  cpuWindowMs: number;
  /** How often the processes are measured. */
  everyMs: number;
};

/**
 * The default limits. The kernel shares the processors fairly among Chromiums, so only sessions of the same Chromium need
 * a limit. A page that works on one thread stays below it.
 */
export const PAGE_LIMITS: PageLimits = {
  memoryBytes: 2_048 * 2 ** 20,
  processors: Math.max(1.5, availableParallelism() / 2),
  cpuWindowMs: 60_000,
  everyMs: 2_000,
};

type Renderer = { pid: number; memoryBytes: number; cpuMs: number };

/** For each renderer process, when its current window for the processors began, and its CPU time then. */
export type CpuWindows = ReadonlyMap<number, { sinceMs: number; cpuMs: number }>;

/** Finds the processes that exceed a limit. Returns also the windows to pass to the next call. */
export function findExcess(
  { memoryBytes, processors, cpuWindowMs }: PageLimits,
  windows: CpuWindows,
  renderers: readonly Renderer[],
  now: { ms: number; isShared: boolean },
): { excess: { pid: number; reason: string }[]; windows: CpuWindows } {
  const next = new Map<number, { sinceMs: number; cpuMs: number }>();
  const excess: { pid: number; reason: string }[] = [];
  for (const { pid, cpuMs, memoryBytes: usedBytes } of renderers) {
    if (memoryBytes > 0 && usedBytes > memoryBytes) {
      excess.push({ pid, reason: describeMemory(memoryBytes) });
      continue;
    }
    if (!now.isShared) continue;
    const window = windows.get(pid);
    const isOver = window !== undefined && now.ms - window.sinceMs >= cpuWindowMs;
    if (isOver && cpuMs - window.cpuMs > processors * (now.ms - window.sinceMs))
      excess.push({ pid, reason: describeProcessors(processors, cpuWindowMs) });
    next.set(pid, window && !isOver ? window : { sinceMs: now.ms, cpuMs });
  }
  return { excess, windows: next };
}

const describeMemory = (bytes: number) =>
  `the page used more than ${Math.round(bytes / 2 ** 20)} MiB of memory (BROWSER_PAGE_MEMORY_MB) and was ended`;
const describeProcessors = (processors: number, windowMs: number) =>
  `the page used more than ${processors} processors for ${windowMs / 1_000} s and was ended, because other sessions share its Chromium`;

const CONNECT_MS_MAX = 10_000;
/** How long after the end of a process Chromium may report that its pages have crashed. */
const REPORT_MS_MAX = 30_000;
/** How much later than the first page of a process its other pages may be reported. */
const NEXT_REPORT_MS_MAX = 1_000;

/**
 * Measures the renderer processes of a local Chromium, and ends those that exceed a limit. Chromium then reports that the
 * pages of this process have crashed; the pages of other processes stay.
 *
 * @returns `explainCrash`, see `BrowserProcess.explainCrash`.
 */
export function watchPageLimits(deps: {
  devtools: Devtools;
  exited: Promise<void>;
  use: ChromiumUse;
  limits: PageLimits;
  logger: Logger;
}): { explainCrash: () => string | undefined } {
  const { devtools, exited, use, limits, logger } = deps;
  let connecting: Promise<DevtoolsConnection> | undefined;
  let windows: CpuWindows = new Map();
  /** Processes that were ended, and that Chromium may still list. */
  let ended = new Set<number>();
  let reasons: { reason: string; untilMs: number }[] = [];

  async function check(): Promise<void> {
    const isShared = use.sessions > 1;
    if (limits.memoryBytes === 0 && !isShared) return;
    connecting ??= devtools.open(CONNECT_MS_MAX, { onEvent() {}, onClose() {} });
    const listed = await readRenderers(await connecting);
    ended = new Set(listed.map(({ pid }) => pid).filter((pid) => ended.has(pid)));
    const renderers = listed.filter(({ pid }) => !ended.has(pid));
    const found = findExcess(limits, windows, renderers, { ms: performance.now(), isShared });
    windows = found.windows;
    for (const { pid, reason } of found.excess) {
      if (!endProcess(pid)) continue;
      ended.add(pid);
      reasons.push({ reason, untilMs: performance.now() + REPORT_MS_MAX });
      logger.warn({ pid, reason }, "a page that took too much was ended");
    }
  }
  let isRunning = false;
  const timer = setInterval(() => {
    if (isRunning) return;
    isRunning = true;
    check()
      .catch((error: unknown) => {
        connecting = undefined;
        logger.debug({ err: error }, "the processes of a browser were not measured");
      })
      .finally(() => {
        isRunning = false;
      });
  }, limits.everyMs);
  timer.unref();
  void exited.then(() => clearInterval(timer));
  return {
    explainCrash() {
      const nowMs = performance.now();
      reasons = reasons.filter(({ untilMs }) => nowMs < untilMs);
      const [first] = reasons;
      if (first) first.untilMs = Math.min(first.untilMs, nowMs + NEXT_REPORT_MS_MAX);
      return first?.reason;
    },
  };
}

async function readRenderers(connection: DevtoolsConnection): Promise<Renderer[]> {
  const { processInfo } = await connection.ask("SystemInfo.getProcessInfo", {});
  const processes = processInfo as { type: string; id: number; cpuTime: number }[];
  return Promise.all(
    processes
      .filter(({ type, id }) => type === "renderer" && id > 0)
      .map(async ({ id, cpuTime }) => ({
        pid: id,
        cpuMs: cpuTime * 1_000,
        memoryBytes: await readOwnMemory(id),
      })),
  );
}

/**
 * Reads the memory of a process without the code that it shares with others, also what was swapped out. 0 if the process
 * has ended, or on a system without `/proc`.
 */
async function readOwnMemory(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  const kilobytes = [...status.matchAll(/^(?:RssAnon|RssShmem|VmSwap):\s+(\d+) kB$/gm)];
  return kilobytes.reduce((sum, [, value]) => sum + Number(value) * 1_024, 0);
}

/** @returns false if the process has ended meanwhile, or may not be ended. */
function endProcess(pid: number): boolean {
  try {
    return process.kill(pid, "SIGKILL");
  } catch {
    return false;
  }
}
