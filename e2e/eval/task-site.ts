import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Route, Task } from "./task.ts";

/** A site on loopback that serves the pages of tasks and stores the values that the pages report. */
export type TaskSite = {
  urlOf: (task: Task) => string;
  /** Returns the values that a task's page has reported since the last call of `drainDone`. */
  drainDone: (task: Task) => unknown[];
  close: () => Promise<void>;
};

const DONE = `<script>function done(value) { return fetch('done', { method: 'POST', body: JSON.stringify(value) }); }</script>`;

/** @param libraryPages the folder of the built pages of libraries, if a task has one. */
export async function startTaskSite(tasks: readonly Task[], libraryPages?: string): Promise<TaskSite> {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const reported = new Map<string, unknown[]>();
  const server = createServer(async (request, response) => {
    const [, id = "", path = ""] = /^\/([\w-]+)\/([^?]*)/.exec(request.url ?? "") ?? [];
    const task = byId.get(id);
    if (!task) return response.writeHead(404).end("There is no such task.");
    if (path === "done") {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      reported.set(id, [...(reported.get(id) ?? []), JSON.parse(Buffer.concat(chunks).toString() || "null")]);
      return response.end();
    }
    if (path === "") {
      const page = `<!doctype html><meta charset=utf-8><title>${id}</title>${DONE}${task.page}`;
      return response.writeHead(200, { "content-type": "text/html" }).end(page);
    }
    const route = task.routes?.[path] ?? (await readLibraryFile(task, path, libraryPages));
    if (!route) return response.writeHead(404).end();
    if (route.delayMs) await new Promise((resolve) => setTimeout(resolve, route.delayMs));
    const headers = { "content-type": route.type ?? "text/plain", ...route.headers };
    return response.writeHead(route.status ?? 200, headers).end(route.body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    urlOf: ({ id }) => `http://127.0.0.1:${port}/${id}/`,
    drainDone({ id }) {
      const done = reported.get(id) ?? [];
      reported.delete(id);
      return done;
    },
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** Reads the script or style sheet of a library's page. An empty file, if the page has none. */
async function readLibraryFile(
  { library }: Task,
  path: string,
  folder: string | undefined,
): Promise<Route | undefined> {
  const ending = /^app\.(js|css)$/.exec(path)?.[1];
  if (library === undefined || folder === undefined || ending === undefined) return undefined;
  const file = join(folder, `${library}.${ending}`);
  const body = existsSync(file) ? await readFile(file, "utf8") : "";
  return { body, type: ending === "js" ? "text/javascript" : "text/css" };
}
