import { spawn } from "node:child_process";
import { once } from "node:events";
import { findFreePort } from "#e2e/fixtures/service.ts";
import { startTestSite, waitFor } from "#lib/browser/testing.ts";
import { APP_ENV } from "./build-app.ts";
import type { RunningApp } from "./matrix-app.ts";

/** The answer to a request: its body, with HTML as the default type. Undefined for an address that does not exist. */
export type AppAnswer =
  | string
  | { body: string; type?: string; status?: number; headers?: Record<string, string> }
  | undefined;

export type AppRequest = { path: string; search: URLSearchParams; form: URLSearchParams; isForm: boolean };

/** Serves an app with a function of this process. */
export const serveWith = (
  answer: (request: AppRequest) => AppAnswer | Promise<AppAnswer>,
): Promise<RunningApp> =>
  startTestSite(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://app");
    let text = "";
    for await (const chunk of request) text += chunk;
    const isForm = request.method === "POST";
    const found = await answer({
      path: pathname,
      search: searchParams,
      form: new URLSearchParams(text),
      isForm,
    });
    const {
      body,
      type = "text/html",
      status = 200,
      headers = {},
    } = typeof found === "string" ? { body: found } : (found ?? { body: "", status: 404 });
    response.writeHead(status, { "content-type": `${type}; charset=utf-8`, ...headers });
    response.end(body);
  });

/** Serves an app with a program of its own, which listens on the port in `PORT` of the loopback interface. */
export async function serveByProgram(folder: string, args: string[]): Promise<RunningApp> {
  const port = await findFreePort();
  const origin = `http://127.0.0.1:${port}`;
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env: { ...APP_ENV, PORT: String(port), HOST: "127.0.0.1", ORIGIN: origin },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const exited = once(child, "exit");
  await waitFor(async () => {
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`);
    return fetch(origin).then(
      ({ ok }) => ok,
      () => false,
    );
  }, `the server in ${folder}`);
  return {
    origin,
    async close() {
      child.kill();
      await exited;
    },
  };
}
