import type { EventEmitter } from "node:events";
import type { BrowserContext, Page } from "playwright-core";
import { sendToService } from "./parent.ts";

const LISTENER_METHODS = [
  "on",
  "once",
  "addListener",
  "prependListener",
  "off",
  "removeListener",
  "removeAllListeners",
] as const;

/**
 * Tells the service when the script starts or stops listening for dialogs, always before the script's next action.
 * While the script listens, it answers dialogs itself; otherwise the service answers them.
 */
export function reportDialogListeners(context: BrowserContext): void {
  // Adds a listener, because Playwright answers dialogs itself if there is no listener, and would race with the
  // service.
  context.on("dialog", () => {});
  const own = count(context);
  let isListening = false;
  const report = () => {
    const isNow = count(context) > own || context.pages().some((page) => count(page) > 0);
    if (isNow !== isListening) sendToService({ type: "dialogs", isListening: isNow });
    isListening = isNow;
  };
  watchListeners(context, report);
  for (const page of context.pages()) watchListeners(page, report);
  context.on("page", (page) => watchListeners(page, report));
}

// Playwright's objects are event emitters, but its types do not say so.
const emitterOf = (source: BrowserContext | Page) => source as unknown as EventEmitter;
const count = (source: BrowserContext | Page) => emitterOf(source).listenerCount("dialog");

/** Calls `onChange` after each change of an emitter's listeners. */
function watchListeners(source: BrowserContext | Page, onChange: () => void): void {
  const emitter = emitterOf(source);
  for (const name of LISTENER_METHODS) {
    const change = emitter[name].bind(emitter) as (...args: unknown[]) => unknown;
    Object.assign(emitter, {
      [name](...args: unknown[]) {
        const result = change(...args);
        onChange();
        return result;
      },
    });
  }
}
