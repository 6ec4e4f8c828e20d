import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { BrowserInput, BrowserService, LiveBrowser } from "../browser-service.ts";
import {
  findTestChromium,
  insertTestSession,
  openTestBrowsers,
  startTestSite,
  type TestBrowsers,
  waitFor,
} from "../testing.ts";

/** An annotation as the overlay submits it. */
export type SentAnnotation = {
  type: string;
  selector: string;
  shadowSelector?: string;
  frame?: string;
  frameUrl?: string;
  comment: string;
  element: string;
  text: string;
  boundingBox: { x: number; y: number; width: number; height: number };
};

export type SentSubmission = { event: string; output: string; url: string; annotations: SentAnnotation[] };

/** The middle of the overlay's button in the corner of the page. */
export const PILL = { x: 1230, y: 772 };
/** The position of the submit button while the list has comments. */
export const SUBMIT = { x: PILL.x - 60, y: PILL.y - 42 };

/** Takes control of a session's browser for a person. @returns what sends the person's input, and a give-back. */
export async function takeControl(
  browser: Pick<BrowserService, "control" | "drive">,
  sessionId: string,
  name = "Ada",
) {
  const connectionId = `con_${randomUUID()}`;
  await browser.control(sessionId, { type: "take", connectionId, name });
  return {
    connectionId,
    input: (id: string, input: BrowserInput) => browser.drive(id, connectionId, input),
    giveBack: (note: string | null = null) =>
      browser.control(sessionId, { type: "give_back", connectionId, note }),
  };
}

/** A person at the live view of a session's browser. @param browsers.input sends input to the page. */
export function createPerson(
  browsers: { input: (sessionId: string, input: BrowserInput) => Promise<void> },
  sessionId: string,
) {
  const mouse = (action: "move" | "down" | "up", x: number, y: number) =>
    browsers.input(sessionId, {
      type: "mouse",
      action,
      x,
      y,
      button: action === "move" ? "none" : "left",
      clickCount: action === "move" ? 0 : 1,
      modifiers: 0,
    });
  const move = (x: number, y: number) => mouse("move", x, y);
  async function click({ x, y }: { x: number; y: number }): Promise<void> {
    await move(x, y);
    await mouse("down", x, y);
    await mouse("up", x, y);
  }
  async function press(key: string, code = key, modifiers = 0): Promise<void> {
    for (const action of ["down", "up"] as const)
      await browsers.input(sessionId, { type: "key", action, key, code, modifiers });
  }
  async function type(text: string): Promise<void> {
    for (const key of text) await press(key, "");
  }
  /** Adds a comment about what is at a point. */
  async function addComment(at: { x: number; y: number }, comment: string): Promise<void> {
    await click(PILL);
    await click(at);
    await type(comment);
    await press("Enter");
  }
  const paste = (text: string) => browsers.input(sessionId, { type: "paste", text });
  return { click, press, type, paste, addComment };
}

/** A browser with one session, and a person who uses its live view. All input goes through the browser service. */
export type OverlayBench = Awaited<ReturnType<typeof openOverlayBench>>;

/** Starts a browser service and a site on two host names, which are two sites for Chromium. */
export async function openOverlayBench(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  chromiumArgs: string[] = [],
) {
  const site = await startTestSite(answer);
  const annotations: TestBrowsers["annotations"] = [];
  let refusal: string | undefined;
  const launch = findTestChromium();
  const harness: TestBrowsers = await openTestBrowsers([`127.0.0.1:${site.port}`, `localhost:${site.port}`], {
    async onAnnotation(id, body) {
      const reason = refusal;
      refusal = undefined;
      if (reason !== undefined) return { isStored: false, reason };
      annotations.push({ sessionId: id, submission: JSON.parse(body) });
      return { isStored: true };
    },
    launch: { ...launch, args: [...(launch.args ?? []), ...chromiumArgs] },
  });
  const { browsers } = harness;
  const sessionId = await insertTestSession(harness.db);
  // Keeps the browser in use. For a picture of an unused browser, the service would hide the overlay for a moment.
  const release = await browsers.hold(sessionId);

  const person = createPerson(browsers, sessionId);
  const untilShown = () =>
    waitFor(async () => (await browsers.readCursor(sessionId, PILL.x, PILL.y)) === "pointer", "the overlay");

  /** Returns the whole document as DevTools shows it, including closed shadow roots. */
  async function readDocument(live: LiveBrowser): Promise<string> {
    const cdp = await live.context.newCDPSession(live.page());
    const { root } = await cdp.send("DOM.getDocument", { depth: -1, pierce: true });
    await cdp.detach();
    return JSON.stringify(root);
  }
  const shows = async (live: LiveBrowser, text: string) =>
    waitFor(async () => (await readDocument(live)).includes(text), `the overlay to show ${text}`);
  /** Submits the comments in the list. Returns what was submitted. */
  async function submit(): Promise<SentSubmission> {
    annotations.length = 0;
    await waitFor(
      async () => (await browsers.readCursor(sessionId, SUBMIT.x, SUBMIT.y)) === "pointer",
      "the submit button",
    );
    await person.click(SUBMIT);
    const [sent] = await waitFor(() => annotations.length > 0 && annotations, "the annotation");
    return sent?.submission as SentSubmission;
  }

  return {
    site,
    harness: { ...harness, annotations },
    sessionId,
    ...person,
    untilShown,
    readDocument,
    shows,
    submit,
    /** Refuses the next submission for this reason. */
    refuseNext(reason: string) {
      refusal = reason;
    },
    /** Opens a page and waits for the overlay. */
    async open(path: string): Promise<LiveBrowser> {
      await browsers.navigate(sessionId, `${site.origin}${path}`);
      const live = await browsers.ensure(sessionId);
      await live.page().waitForLoadState("load");
      await untilShown();
      return live;
    },
    /** Comments on what is at a point, submits it, and returns the annotation. */
    async annotate(at: { x: number; y: number }, comment: string): Promise<SentAnnotation> {
      await person.addComment(at, comment);
      const { annotations: sent } = await submit();
      if (!sent[0]) throw new Error("the submission has no annotation");
      return sent[0];
    },
    async close() {
      release();
      await harness.close();
      await site.close();
    },
  };
}
