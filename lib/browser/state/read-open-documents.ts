import type { BrowserContext, CDPSession, Frame, Page } from "playwright";
import { callInjected, type IsolatedWorld } from "#lib/injected/call-injected.ts";
import { createDeadline } from "#lib/time/deadline.ts";
import { ORIGIN_BYTES_MAX } from "./site-data.ts";
import { parseStorageKey } from "./storage-key.ts";

/** What an origin has stored: JSON, nothing, or more than the limit. */
export type StorageReading = { kind: "data"; text: string; skipped: number } | { kind: "empty" | "large" };

/** How long the documents of a page may take. A page that is busy, or whose navigation is pending, does not answer. */
const READ_MS_MAX = 4_000;
const FRAMES_MAX = 50;
const WORLD = "site data";

type FrameTree = { frame: { id: string; securityOrigin: string }; childFrames?: FrameTree[] };

/** Reads the storage of the documents that the pages of one browser show. */
export type DocumentReader = {
  /** @returns the readings by storage key. Documents that do not answer in time are left out. */
  read: () => Promise<Map<string, StorageReading>>;
};

/** Returns the DevTools session of a page, or of a frame that has a process of its own. Undefined for other frames. */
type FindSession = (target: Page | Frame) => Promise<CDPSession | undefined>;

/**
 * Creates the reader of a context's documents. It reads in an isolated world of each document, of which Chromium makes
 * one for each DevTools session, so the sessions stay open.
 */
export function createDocumentReader(context: BrowserContext): DocumentReader {
  const sessions = new WeakMap<Page | Frame, CDPSession>();
  const findSession: FindSession = async (target) => {
    const session = sessions.get(target) ?? (await context.newCDPSession(target).catch(() => undefined));
    if (session) sessions.set(target, session);
    return session;
  };
  const readAll = async (page: Page, readings: Map<string, StorageReading>) => {
    const targets = [page, ...page.frames().slice(1, FRAMES_MAX)];
    await Promise.all(
      targets.map(async (target) => {
        const session = await findSession(target);
        // A session ends when its frame moves to another process.
        if (session) await readFrames(session, readings).catch(() => sessions.delete(target));
      }),
    );
  };
  return {
    async read() {
      const readings = new Map<string, StorageReading>();
      const pages = context.pages();
      await Promise.all(
        pages.map((page) => createDeadline({ ms: READ_MS_MAX }).settles(readAll(page, readings))),
      );
      // A page that answers later must not change what was returned.
      return new Map(readings);
    },
  };
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
