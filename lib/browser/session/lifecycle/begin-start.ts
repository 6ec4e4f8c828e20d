import { errorText } from "#lib/text/error-text.ts";
import type { BrowserRow } from "../../browser-records.ts";
import { ElsewhereError } from "../../elsewhere-error.ts";
import type { OpenBrowser } from "../../page/open-browser.ts";
import { describeRestart } from "../../state/describe-restart.ts";
import type { PlaceTicket } from "../browser-places.ts";
import { type BrowserStart, NoBrowserError, shareStart } from "../browser-start.ts";
import {
  type BrowserState,
  beginEnding,
  isStarting,
  type Lifecycle,
  type LifecycleDeps,
  type RunningBrowser,
  reportUnrecorded,
  runningIn,
} from "./lifecycle-state.ts";

/** Begins the start of a browser: after the end of the previous one, and as soon as a place is free. */
export function beginStart(life: Lifecycle): BrowserStart<RunningBrowser> {
  const { deps, state: before } = life;
  const queued = Promise.withResolvers<void>();
  let ticket: PlaceTicket | undefined;

  async function run(): Promise<RunningBrowser> {
    await (before.kind === "ending" ? before.ended : undefined);
    ticket = deps.requestPlace((position) => deps.record.noteWaiting(position));
    try {
      return await startBrowser(life, start, ticket, queued.resolve);
    } catch (error) {
      ticket.release();
      if (isStarting(life.state) && life.state.start === start) life.state = { kind: "none" };
      throw error;
    }
  }

  const isWaiting = () => life.state === starting && (ticket?.isWaiting() ?? false);
  const start: BrowserStart<RunningBrowser> = shareStart({
    browser: run(),
    isWaiting,
    queued: queued.promise,
    waitMs: deps.placeWait.waitMs,
    explainWait: deps.placeWait.explain,
    leaveLine(error) {
      if (!isWaiting()) return;
      // The state is `ending` until the end of this start is recorded. If a caller arrives during this time, a new
      // start begins, and the new start waits for the recording.
      beginEnding(life, start.settled);
      ticket?.release(error);
    },
  });
  const starting: BrowserState = { kind: "starting", start };
  life.state = starting;
  return start;
}

/** Records that the browser starts. A host that took the session over from the queue finds this recorded. */
async function provisionRecord(record: LifecycleDeps["record"], place: PlaceTicket): Promise<BrowserRow> {
  const waiting = place.isHandedOver ? await record.read() : undefined;
  if (waiting?.status === "creating") return waiting;
  // The record names an earlier browser if the end of that browser was not recorded.
  await record.dropClaim();
  return record.move("provision", { lastError: null, currentUrl: null, restartNotice: null });
}

async function startBrowser(
  life: Lifecycle,
  start: BrowserStart<RunningBrowser>,
  place: PlaceTicket,
  onQueued: () => void,
): Promise<RunningBrowser> {
  const { deps } = life;
  const { record } = deps;
  const { returnUrl } = await provisionRecord(record, place);

  const browser = await takeWithPlace(deps, place, onQueued);
  const running: RunningBrowser = {
    browser,
    place,
    inputQueue: undefined,
    clipboard: undefined,
    landing: Promise.resolve(),
    starts: 0,
    isRestart: false,
    restartReason: life.failure,
    isLost: false,
  };
  life.state = { kind: "recording", start, running };
  deps.onTaken(running);
  const row = await record
    .move("cameUp", {
      currentUrl: browser.selected().page.url(),
      restartNotice:
        returnUrl === null ? null : describeRestart(browser.siteData.restoration(), life.failure),
    })
    .catch(async (error) => {
      if (runningIn(life.state) === running) {
        deps.onReleased();
        beginEnding(life, start.settled);
      }
      await browser.close();
      throw error;
    });
  if (runningIn(life.state) !== running) throw new NoBrowserError("the browser ended right after its start");
  life.state = { kind: "up", running };
  running.starts = row.starts;
  running.isRestart = row.restartNotice !== null;
  running.landing = deps.land(browser, row);
  return running;
}

/** Waits for the place, and then takes a browser from the pool. If either fails, records the failure. */
async function takeWithPlace(
  deps: LifecycleDeps,
  place: PlaceTicket,
  onQueued: () => void,
): Promise<OpenBrowser> {
  const { record } = deps;
  try {
    if (place.isWaiting()) {
      onQueued();
      record.enqueue().then(place.enlist, (error: unknown) => place.release(toNoBrowser(error)));
    }
    await place.granted;
    record.noteWaiting(0);
    return await deps.take().catch((error: unknown) => {
      throw toNoBrowser(error);
    });
  } catch (error) {
    record.noteWaiting(0);
    await recordFailure(deps, error);
    throw error;
  }
}

const toNoBrowser = (error: unknown) => new NoBrowserError(errorText(error), { cause: error });

/**
 * Records the status `error` with the reason if the start failed or no place became free in time. Records `expired` if
 * the wait for a place was stopped earlier.
 */
async function recordFailure(deps: LifecycleDeps, error: unknown): Promise<void> {
  const { sessionId, record, logger } = deps;
  // The other host records the outcome of the start.
  if (error instanceof ElsewhereError) return;
  if (!(error instanceof NoBrowserError)) {
    logger.debug({ sessionId, err: error }, "a session stopped waiting for a browser");
    await record.move("abandoned", {}).catch((failure) => reportUnrecorded(deps, failure));
    return;
  }
  logger.warn({ sessionId, err: error }, "no browser could be started");
  await record
    .move("failed", { lastError: error.message })
    .catch((failure) => reportUnrecorded(deps, failure));
}
