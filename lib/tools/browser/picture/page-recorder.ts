import { createHash, randomUUID } from "node:crypto";
import type { BrowserRecords } from "#lib/browser/browser-records.ts";
import type { HostBrowsers, LiveBrowser } from "#lib/browser/browser-service.ts";
import type { NewRecordedPicture } from "#lib/browser/store/recording-store.ts";
import type { HostControl } from "#lib/browser/view/host-control.ts";
import type { Logger } from "#lib/log/logger.ts";
import { beginningOf } from "#lib/text/whole-characters.ts";
import { pageDeadline } from "../page-deadline.ts";
import type { PageCall } from "../page-tools.ts";

/** Takes the pictures of recordings: the page of a session as the agent's calls leave it. Source: decision 125. */
export type PageRecorder = {
  /**
   * Takes a picture of the page that a call has just left, and stores it unless it looks like the picture before. Resolves
   * when the picture is taken, so that it does not show what the next call does. A picture that cannot be taken or stored
   * is missing from the recording, and nothing fails.
   */
  note: (call: Pick<PageCall, "browserSessionId" | "runId" | "callId">) => Promise<void>;
};

type Deps = {
  browser: Pick<HostBrowsers, "ensure" | "listUp">;
  keepRecorded: BrowserRecords["keepRecorded"];
  /** During a handover to a person, nothing is recorded. */
  control: Pick<HostControl, "isPrivate">;
  logger: Pick<Logger, "debug">;
};

/** Whether a browser's recording is not wanted, and the hash of its last picture. */
type Recording = {
  isOff: boolean;
  lastHash: string;
  /** Pictures are stored one after another, so that they keep their order. */
  storing: Promise<void>;
  waiting: number;
};

/** How long a call waits for its picture. A picture takes about 0.1 s, unless the page is busy. */
const CAPTURE_MS_MAX = 1_000;
/** The most pictures of one browser that wait to be stored. While there are so many, no more are taken. */
const WAITING_MAX = 5;
/** Of large pages, the second quality is tried. */
const QUALITIES = [55, 25] as const;
const BYTES_MAX = 1_048_576;
const URL_CHARS_MAX = 2_000;
const TITLE_CHARS_MAX = 200;

/** @see PageRecorder */
export function createPageRecorder({ browser, keepRecorded, control, logger }: Deps): PageRecorder {
  const recordings = new WeakMap<LiveBrowser["context"], Recording>();

  function recordingOf({ context }: LiveBrowser): Recording {
    const recording = recordings.get(context) ?? {
      isOff: false,
      lastHash: "",
      storing: Promise.resolve(),
      waiting: 0,
    };
    recordings.set(context, recording);
    return recording;
  }
  async function store(recording: Recording, picture: NewRecordedPicture, hash: string): Promise<void> {
    try {
      const isKept = await keepRecorded(picture);
      if (!isKept) recording.isOff = true;
    } catch (error) {
      // The next picture of the page is stored even if it looks like this one.
      if (recording.lastHash === hash) recording.lastHash = "";
      throw error;
    } finally {
      recording.waiting -= 1;
    }
  }

  return {
    async note({ browserSessionId: sessionId, runId, callId }) {
      const logFailure = (error: unknown) =>
        logger.debug({ sessionId, err: error }, "a picture of the recording was not stored");
      try {
        // A browser that has ended is not started again for a picture.
        if (!browser.listUp().includes(sessionId) || control.isPrivate(sessionId)) return;
        const live = await browser.ensure(sessionId);
        const recording = recordingOf(live);
        const url = live.page().url();
        if (recording.isOff || recording.waiting >= WAITING_MAX || !/^https?:/.test(url)) return;
        const { bytes, title } = await pageDeadline(undefined, CAPTURE_MS_MAX).race(async () => ({
          bytes: await capture(live),
          title: await live.page().title(),
        }));
        const hash = bytes && createHash("sha256").update(url).update(bytes).digest("base64");
        if (!bytes || !hash || hash === recording.lastHash || control.isPrivate(sessionId)) return;
        recording.lastHash = hash;
        recording.waiting += 1;
        const page = { url: beginningOf(url, URL_CHARS_MAX), title: beginningOf(title, TITLE_CHARS_MAX) };
        const picture = { sessionId, runId, callId, ...page, bytes, key: randomUUID() };
        recording.storing = recording.storing.then(() => store(recording, picture, hash)).catch(logFailure);
      } catch (error) {
        logFailure(error);
      }
    },
  };
}

/** Captures what is in view. @returns undefined if even the second quality is too large. */
async function capture(live: LiveBrowser): Promise<Uint8Array | undefined> {
  const cdp = await live.cdp();
  for (const quality of QUALITIES) {
    const options = { format: "jpeg", quality, optimizeForSpeed: true } as const;
    const bytes = Buffer.from((await cdp.send("Page.captureScreenshot", options)).data, "base64");
    if (bytes.byteLength <= BYTES_MAX) return bytes;
  }
  return undefined;
}
