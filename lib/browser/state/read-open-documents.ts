import type { BrowserContext, CDPSession, Page } from "playwright";
import { callInjected, type IsolatedWorld } from "#lib/injected/call-injected.ts";
import { createDeadline } from "#lib/time/deadline.ts";
import { ORIGIN_BYTES_MAX } from "./site-data.ts";
import { parseStorageKey } from "./storage-key.ts";

/** What an origin has stored: JSON, nothing, or more than the limit. */
export type StorageReading = { kind: "data"; text: string; skipped: number } | { kind: "empty" | "large" };

/** How long the documents of a page may take. A page that is busy, or whose navigation is pending, does not answer. */
const READ_MS_MAX = 5_000;
const FRAMES_MAX = 50;
const WORLD = "site data";

type FrameTree = { frame: { id: string; securityOrigin: string }; childFrames?: FrameTree[] };

/**
 * Reads the storage of the documents that the pages of a context show, in an isolated world of each document.
 * @returns the readings by storage key. Documents that do not answer in time are left out.
 */
export async function readOpenDocuments(context: BrowserContext): Promise<Map<string, StorageReading>> {
  const readings = new Map<string, StorageReading>();
  await Promise.all(
    context
      .pages()
      .map((page) => createDeadline({ ms: READ_MS_MAX }).settles(readPage(context, page, readings))),
  );
  return readings;
}

async function readPage(
  context: BrowserContext,
  page: Page,
  readings: Map<string, StorageReading>,
): Promise<void> {
  const [main, ...inner] = page.frames().slice(0, FRAMES_MAX);
  const sessions = await Promise.all(
    [page, ...(main ? inner : [])].map((target) =>
      // Only frames with a process of their own have a session of their own.
      context.newCDPSession(target).catch(() => undefined),
    ),
  );
  const own = sessions.filter((session) => session !== undefined);
  try {
    await Promise.all(own.map((session) => readFrames(session, readings)));
  } finally {
    for (const session of own) session.detach().catch(() => {});
  }
}

async function readFrames(session: CDPSession, readings: Map<string, StorageReading>): Promise<void> {
  const { frameTree } = await session.send("Page.getFrameTree");
  const keys = new Map<string, string>();
  for (const { id } of listFrames(frameTree).slice(0, FRAMES_MAX)) {
    const { storageKey } = await session.send("Storage.getStorageKeyForFrame", { frameId: id });
    if (!keys.has(storageKey)) keys.set(storageKey, id);
  }
  for (const [name, frameId] of keys) {
    const origin = parseStorageKey(name)?.origin;
    if (origin === undefined || readings.has(name)) continue;
    const { executionContextId: contextId } = await session.send("Page.createIsolatedWorld", {
      frameId,
      worldName: WORLD,
    });
    const reading = await readStorage({ session, contextId }, origin);
    if (reading) readings.set(name, reading);
  }
}

/** Reads the storage of an origin in a document of it. Undefined if the document has another origin by now. */
export async function readStorage(world: IsolatedWorld, origin: string): Promise<StorageReading | undefined> {
  const reading = await callInjected(world, "site-data", "readSiteStorage", [origin, ORIGIN_BYTES_MAX]);
  return reading.kind === "elsewhere" ? undefined : (reading as StorageReading);
}

const listFrames = ({ frame, childFrames = [] }: FrameTree): FrameTree["frame"][] => [
  frame,
  ...childFrames.flatMap(listFrames),
];
