import type { Frame } from "playwright-core";
import { ownCalls } from "./own-calls.ts";
import { hasSentInputSince } from "./pending-navigation.ts";

/** After how long an action that is still waiting is looked at for the first time. */
const FIRST_LOOK_MS = 300;
const LOOK_EVERY_MS = 250;
/** In how many looks in a row a dialog must be in the way. Playwright scrolls meanwhile, and dialogs may close. */
const LOOKS = 3;
const READ_MS_MAX = 1_000;

/** The calls of Playwright that point at an element: they fail if anything covers it. */
const POINTING_CALL = /^(click|dblclick|tap|hover|check|uncheck|dragAndDrop)$/;
/** Further calls that need an element that takes input. */
const INPUT_CALL = /^(fill|selectOption|selectText|setInputFiles|type|press|focus)$/;

/**
 * Plays an action on the element of `selector`. Ends it about a second after it began if an open dialog keeps people
 * from the element: Playwright would wait for the dialog to close until the action's timeout.
 *
 * @param method the name of the call. Calls that send no input are played as they are.
 * @param play plays the action until its signal fires.
 */
export async function unlessBehindDialog<Result>(
  frame: Pick<Frame, "locator">,
  method: string,
  selector: string,
  play: (signal?: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const isPointing = POINTING_CALL.test(method);
  if (!isPointing && !INPUT_CALL.test(method)) return play();
  const engine = isPointing ? "explain=dialog" : "explain=modal";
  const ended = new AbortController();
  const beganMs = performance.now();
  let dialog: string | undefined;
  let looks = 0;
  const look = async () => {
    const found = await explainElement(frame, selector, engine);
    // What comes after the action's own input is the effect of the action.
    if (ended.signal.aborted || hasSentInputSince(beganMs)) return;
    looks = found === "" ? 0 : looks + 1;
    if (looks < LOOKS) timer = setTimeout(look, LOOK_EVERY_MS);
    else {
      dialog = found;
      ended.abort();
    }
  };
  let timer = setTimeout(look, FIRST_LOOK_MS);
  try {
    return await play(ended.signal);
  } catch (error) {
    throw dialog === undefined ? error : new Error(dialog);
  } finally {
    clearTimeout(timer);
    ended.abort();
  }
}

/** Explains what keeps people from an element. Empty if nothing does, or if that cannot be found out. */
export const explainElement = (
  frame: Pick<Frame, "locator">,
  selector: string,
  engine: "explain=dialog" | "explain=modal",
): Promise<string> =>
  ownCalls.run(true, async () => {
    const explained = frame.locator(selector).first().locator(engine);
    return (await explained.textContent({ timeout: READ_MS_MAX }).catch(() => "")) ?? "";
  });
