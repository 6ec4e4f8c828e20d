/**
 * Runs Playwright's test runner in the sandbox of a session. The sandbox has no network, so this program forwards a
 * port on the sandbox's loopback to a Unix socket of the service's proxy.
 */
import { spawn } from "node:child_process";
import { connect, createServer } from "node:net";
import { readSettings } from "./settings.ts";

const { proxyPort, proxySocket, patterns, grep } = readSettings();
const proxy = `http://127.0.0.1:${proxyPort}`;

const server = createServer({ allowHalfOpen: true }, (inside) => {
  const outside = connect({ path: proxySocket, allowHalfOpen: true });
  for (const [socket, other] of [
    [inside, outside],
    [outside, inside],
  ] as const) {
    // When one end closes or fails, closes the other end too.
    socket.on("error", () => other.destroy());
    socket.on("close", () => other.destroy());
    socket.pipe(other);
  }
});

server.listen(proxyPort, "127.0.0.1", () => {
  const args = [
    "/node_modules/playwright/cli.js",
    "test",
    `--config=${new URL("playwright.config.ts", import.meta.url).pathname}`,
    ...(grep === null ? [] : [`--grep=${grep}`]),
    "--pass-with-no-tests",
    // The patterns are passed without `--`, because Playwright would ignore patterns after it. All patterns begin with
    // `^`, so none is mistaken for an option.
    ...patterns,
  ];
  // Sends requests that tests make with Node through the proxy too.
  const ownRequests = { NODE_USE_ENV_PROXY: "1", HTTP_PROXY: proxy, HTTPS_PROXY: proxy };
  const env = { ...process.env, ...ownRequests, CI: "1", FORCE_COLOR: "0" };
  const runner = spawn(process.execPath, args, { stdio: "inherit", env });
  runner.on("exit", (code, signal) => process.exit(signal ? 1 : (code ?? 1)));
});
