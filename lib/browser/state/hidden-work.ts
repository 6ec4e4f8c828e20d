import type { BrowserContext } from "playwright";
import { createDeadline } from "#lib/time/deadline.ts";
import type { Devtools } from "../process/devtools-connection.ts";
import { type HiddenPage, openHiddenPage } from "./hidden-page.ts";

/** Work in hidden pages of one browser. One piece of work is done at a time, each in a page of its own. */
export type HiddenWork = {
  /** Whether the browser has hidden pages. */
  isPossible: boolean;
  /** @throws Error if the browser does not answer in time, or the error of the work. */
  run: <Result>(work: (page: HiddenPage) => Promise<Result>) => Promise<Result>;
  /** Makes later work fail at once. */
  end: () => void;
};

const WORK_MS_MAX = 15_000;

/** @see HiddenWork */
export function createHiddenWork(context: BrowserContext, devtools: Devtools): HiddenWork {
  let queue: Promise<unknown> = Promise.resolve();
  let isEnded = false;

  async function open(): Promise<HiddenPage> {
    const [page] = context.pages();
    if (!page || isEnded) throw new Error("the browser is closing");
    const session = await context.newCDPSession(page);
    const { targetInfo } = await session.send("Target.getTargetInfo");
    session.detach().catch(() => {});
    return openHiddenPage(devtools, String(targetInfo.browserContextId));
  }
  async function runNow<Result>(work: (page: HiddenPage) => Promise<Result>): Promise<Result> {
    const opening = open();
    const deadline = createDeadline({ ms: WORK_MS_MAX, lateMessage: "the hidden page did not answer" });
    try {
      return await deadline.race(opening.then(work));
    } finally {
      // The page may come up after the deadline.
      opening.then(
        (hidden) => hidden.close(),
        () => {},
      );
    }
  }

  return {
    isPossible: devtools.createHidden !== undefined,
    run(work) {
      const turn = queue.then(() => runNow(work));
      queue = turn.catch(() => {});
      return turn;
    },
    end() {
      isEnded = true;
    },
  };
}
