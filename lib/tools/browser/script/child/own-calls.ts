import { AsyncLocalStorage } from "node:async_hooks";

/** Marks the calls of Playwright that the files of this folder make. All other calls are the script's. */
export const ownCalls = new AsyncLocalStorage<true>();
