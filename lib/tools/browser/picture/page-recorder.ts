import { createHash, randomUUID } from "node:crypto";
import type { BrowserRecords } from "#lib/browser/browser-records.ts";
import type { HostBrowsers, LiveBrowser } from "#lib/browser/browser-service.ts";
import type { Logger } from "#lib/log/logger.ts";
import { beginningOf } from "#lib/text/whole-characters.ts";
import { createDeadline } from "#lib/time/deadline.ts";
import type { PageCall } from "../page-tools.ts";

/** Takes the pictures of recordings: the page of a session as the agent's calls leave it. */
export type PageRecorder = {
  /**
   * Takes a picture of the page that a call has just left, and stores it unless it looks like the picture before. Calls do
   * not wait for it. A picture that cannot be taken or stored is missing from the recording, and nothing fails.
   */
  note: (call: Pick<PageCall, "browserSessionId" | "runId" | "callId">) => Promise<void>;
};

type Deps = {
  browser: Pick<HostBrowsers, "ensure" | "listUp">;
  keepRecorded: BrowserRecords["keepRecorded"];
  logger: Pick<Logger, "debug">;
};

/** What a browser's recording is doing, and the hash of its last picture. */
type Recording = { isBusy: boolean; isOff: boolean; lastHash: string };

const CAPTURE_MS_MAX = 3_000;
/** Of large pages, the second quality is tried. */
const QUALITIES = [55, 25] as const;
const BYTES_MAX = 1_048_576;
const URL_CHARS_MAX = 2_000;
const TITLE_CHARS_MAX = 200;

/** @see PageRecorder */
export function createPageRecorder({ browser, keepRecorded, logger }: Deps): PageRecorder {
  const recordings = new WeakMap<LiveBrowser["context"], Recording>();

  async function record({ browserSessionId, runId, callId }: Parameters<PageRecorder["note"]>[0]) {
    // A browser that has ended is not started again for a picture.
    if (!browser.listUp().includes(browserSessionId)) return;
    const live = await browser.ensure(browserSessionId);
    const recording = recordings.get(live.context) ?? { isBusy: false, isOff: false, lastHash: "" };
    recordings.set(live.context, recording);
    if (recording.isOff || recording.isBusy) return;
    recording.isBusy = true;
    try {
      const page = live.page();
      const url = page.url();
      if (!/^https?:/.test(url)) return;
      const picture = await createDeadline({
        ms: CAPTURE_MS_MAX,
        lateMessage: "the page did not answer",
      }).race(async () => ({ bytes: await capture(live), title: await page.title() }));
      if (!picture.bytes) return;
      const hash = createHash("sha256").update(url).update(picture.bytes).digest("base64");
      if (hash === recording.lastHash) return;
      recording.isOff = !(await keepRecorded({
        sessionId: browserSessionId,
        runId,
        callId,
        url: beginningOf(url, URL_CHARS_MAX),
        title: beginningOf(picture.title, TITLE_CHARS_MAX),
        bytes: picture.bytes,
        key: randomUUID(),
      }));
      recording.lastHash = hash;
    } finally {
      recording.isBusy = false;
    }
  }

  return {
    note: (call) =>
      record(call).catch((error: unknown) => {
        const { browserSessionId: sessionId } = call;
        logger.debug({ sessionId, err: error }, "a picture of the recording was not stored");
      }),
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
