import type { EventEmitter } from "node:events";
import { Readable } from "node:stream";
import type { BrowserContext } from "playwright-core";
import type { ToChild } from "../script-protocol.ts";
import { ask, listen, readFile } from "./parent.ts";

/**
 * When the service reports that a download has ended, emits `download` on all pages, with an object like Playwright's
 * `Download`.
 */
export function announceDownloads(context: BrowserContext): void {
  listen("download", (stored) => {
    const [page] = context.pages();
    const download = makeDownload(stored, page);
    // All pages emit the event, because a link often opens a new page for its download, and that page closes immediately.
    for (const each of context.pages()) (each as unknown as EventEmitter).emit("download", download);
  });
}

function makeDownload({ url, name, path, failure }: Extract<ToChild, { type: "download" }>, page: unknown) {
  const stored = () => {
    if (path === null) throw new Error(`The download of ${name} failed: ${failure}`);
    return path;
  };
  return {
    url: () => url,
    suggestedFilename: () => name,
    page: () => page,
    failure: async () => failure,
    /** Returns a path in the session's workspace, unlike Playwright. */
    path: async () => stored(),
    async saveAs(to: string) {
      await ask("copyFile", [stored(), String(to)]);
    },
    async createReadStream() {
      return Readable.from([await readFile(stored())]);
    },
    async cancel() {},
    async delete() {
      throw new Error("Files of the workspace are removed with run_shell.");
    },
  };
}
