import type { RecordedRequest, StepToolCall } from "../../fixtures/scripted-model/types.ts";
import type { Tag } from "../world/tag.ts";

/** How often a turn calls the browser. A call fails if the browser is lost meanwhile, and the agent then repeats it. */
const CALLS_MAX = 5;
const VISIT_MS = 1_000;
/** An agent that clicks is interrupted long before this time. */
const CLICKS_MS_MAX = 120_000;

type Script = {
  /** Returns the script for the nth call of a turn, beginning with 0. */
  write: (nonce: string, pageUrl: string, nth: number) => string;
  /** Matches the result of a script that has done its work. Matches no script, because errors may quote a script. */
  done: (nonce: string) => RegExp;
};

const open = (nonce: string, pageUrl: string) =>
  `await page.goto(${JSON.stringify(`${pageUrl}/page/${nonce}`)});`;
const clickAlways = `for (;;) {
  await page.evaluate(() => fetch("/click").then(() => {}));
  await page.waitForTimeout(100);
}`;

/** The scripts by the kind of message. */
const SCRIPTS: Partial<Record<string, Script>> = {
  visit: {
    write: (nonce, pageUrl) =>
      `${open(nonce, pageUrl)} await page.waitForTimeout(${VISIT_MS}); return await page.title();`,
    done: () => /The page/,
  },
  // The page has a login: the same value in local storage and in a cookie.
  login: {
    write: (nonce, pageUrl) => `${open(nonce, pageUrl)}
      await page.evaluate(() => {
        localStorage.setItem("login", "${nonce}");
        document.cookie = "login=${nonce}; max-age=3600; path=/";
      });
      return "stored" + " ${nonce}";`,
    done: (nonce) => new RegExp(`stored ${nonce}`),
  },
  "logged-in": {
    write: (nonce, pageUrl) => `${open(nonce, pageUrl)}
      return "read" + await page.evaluate(() => {
        const cookie = /login=(\\w+)/.exec(document.cookie)?.[1];
        return " " + (localStorage.getItem("login") ?? "none") + " " + (cookie ?? "none");
      });`,
    done: () => /read \w+ \w+/,
  },
  // The first script clicks on the session's page until its browser is lost. The next one reads the page.
  clicks: {
    write: (_nonce, _pageUrl, nth) =>
      nth === 0 ? clickAlways : `return "title" + " " + await page.title();`,
    done: () => /title \w+/,
  },
};

/**
 * Returns the next call of a turn that works in a browser and repeats what failed. Undefined if the kind has no such
 * work, or the work is done.
 */
export function browserCall(
  { kind, nonce }: Tag,
  { answersSoFar, toolResults }: RecordedRequest,
  pageUrl: string,
): StepToolCall | undefined {
  const script = SCRIPTS[kind];
  if (!script || answersSoFar >= CALLS_MAX) return undefined;
  if (toolResults.some((result) => script.done(nonce).test(result))) return undefined;
  return {
    name: "browser_execute",
    arguments: { script: script.write(nonce, pageUrl, answersSoFar), timeoutMs: CLICKS_MS_MAX },
    id: `call_${nonce}_b${answersSoFar}`,
  };
}
