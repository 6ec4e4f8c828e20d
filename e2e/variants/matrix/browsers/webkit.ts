import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { findFreePort } from "#e2e/fixtures/service.ts";
import { waitFor } from "#lib/browser/testing.ts";
import { callExpression, findProgram, type MatrixBrowser } from "./matrix-browser.ts";

const SCRIPT_MAX_MS = 5_000;
const COMMAND_MAX_MS = 30_000;
const PROBLEMS_MAX = 100;
const PROBLEM_CHARACTERS_MAX = 500;

/**
 * WebDriver does not report the errors of a page. This script keeps them in the tab's session storage, because each
 * document has its own `window`.
 */
const RECORD_PROBLEMS = `if (!window.matrixProblems) {
  window.matrixProblems = () => JSON.parse(sessionStorage.getItem("matrix-problems") ?? "[]");
  const record = (problem) => {
    const all = [...matrixProblems(), String(problem).slice(0, ${PROBLEM_CHARACTERS_MAX})];
    sessionStorage.setItem("matrix-problems", JSON.stringify(all.slice(0, ${PROBLEMS_MAX})));
  };
  const showError = console.error;
  console.error = (...args) => { record(args.join(" ")); showError.apply(console, args); };
  addEventListener("error", ({ message, target }) => record(message ?? "not loaded: " + target.outerHTML), true);
  addEventListener("unhandledrejection", ({ reason }) => record(reason));
  addEventListener("securitypolicyviolation", (event) => record("refused by " + event.violatedDirective));
}`;

declare global {
  function matrixProblems(): string[];
}

/** Starts a display for programs that need one. */
async function startDisplay(program: string): Promise<{ name: string; child: ChildProcess }> {
  const child = spawn(program, ["-displayfd", "3", "-nolisten", "tcp", "-screen", "0", "1280x900x24"], {
    stdio: ["ignore", "ignore", "ignore", "pipe"],
  });
  const [number] = await once(createInterface(child.stdio[3] as Readable), "line");
  return { name: `:${number}`, child };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill();
  await exited;
}

type Method = "GET" | "POST" | "DELETE";

/**
 * Returns a function that sends commands to a WebDriver. The function throws the error that WebDriver answers with, or a
 * `TimeoutError`: WebKit's never answers a script whose document goes away.
 */
const sendTo =
  (origin: string) =>
  async <Value>(method: Method, path: string, body?: unknown): Promise<Value> => {
    const response = await fetch(origin + path, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(path.endsWith("/execute/sync") ? SCRIPT_MAX_MS : COMMAND_MAX_MS),
    });
    const { value } = (await response.json()) as { value: Value & { error?: string; message?: string } };
    if (!response.ok) throw new Error(value.message || value.error);
    return value;
  };

/**
 * Starts the WebDriver of Debian's WebKitGTK. Each page has a browser process of its own. Returns null if
 * `webkit2gtk-driver` or `xvfb` is not installed.
 */
export async function launchWebKit(): Promise<MatrixBrowser | null> {
  const driverProgram = findProgram("WebKitWebDriver");
  const displayProgram = findProgram("Xvfb");
  if (driverProgram === undefined || displayProgram === undefined) return null;
  const display = await startDisplay(displayProgram);
  const port = await findFreePort();
  const driver = spawn(driverProgram, [`--port=${port}`], {
    env: { ...process.env, DISPLAY: display.name },
    stdio: "ignore",
  });
  const close = async () => {
    await end(driver);
    await end(display.child);
  };
  process.once("exit", () => {
    driver.kill();
    display.child.kill();
  });
  const send = sendTo(`http://127.0.0.1:${port}`);
  const startSession = () =>
    send<{ sessionId: string; capabilities: { browserVersion: string } }>("POST", "/session", {
      capabilities: {},
    });
  const isReady = () => send("GET", "/status").then(Boolean, () => false);
  try {
    await waitFor(isReady, "WebKitWebDriver");
    const { sessionId, capabilities } = await startSession();
    await send("DELETE", `/session/${sessionId}`);
    return {
      name: `WebKitGTK ${capabilities.browserVersion}`,
      firstScript: RECORD_PROBLEMS,
      async open(url) {
        const session = `/session/${(await startSession()).sessionId}`;
        const evaluate = <Args extends unknown[], Result>(call: (...args: Args) => Result, ...args: Args) =>
          send<Result>("POST", `${session}/execute/sync`, {
            script: `return ${callExpression(call, args)}`,
            args: [],
          });
        await send("POST", `${session}/url`, { url });
        return {
          evaluate,
          readProblems: () => evaluate(() => matrixProblems()),
          close: () => send("DELETE", session),
        };
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
