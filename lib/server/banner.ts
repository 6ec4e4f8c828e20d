import { styleText } from "node:util";
import type { Container } from "./container.ts";
import type { Env } from "./env.ts";

type BannerParts = {
  env: Env;
  container: Pick<Container, "apiKey" | "describe" | "services">;
  readyMs: number;
};

/** Prints that the service is ready, with its URL and the implementations that it uses, and how to start a session. */
export function printBanner({ env, container, readyMs }: BannerParts): void {
  const parts = container.describe();
  const login = `${env.baseUrl}/login?token=${container.services.login.issueToken()}`;
  const key = container.apiKey ?? "<one of SERVICE_API_KEYS>";
  const rows: [string, string][] = [
    ["URL", env.baseUrl],
    [
      "API key",
      container.apiKey ? `${container.apiKey}  (kept in ${env.DATA_DIR})` : "those of SERVICE_API_KEYS",
    ],
    ["Model", parts.model],
    ["Database", parts.database],
    ["Engine", parts.engine],
    ["Browser", parts.browser],
    // Prints only the first part. The service's log has the full description, with the limits of a command.
    ["Sandbox", parts.sandbox.split(";")[0] ?? ""],
    ["Isolation", parts.isolation],
    ...parts.missingTools.map(({ tools, reason }): [string, string] => [
      "Missing",
      `${tools.join(", ")}: ${reason}`,
    ]),
  ];
  const body = JSON.stringify({
    messages: [
      {
        role: "user",
        parts: [{ type: "text", text: "Look at this page and tell me what its checkout asks for." }],
      },
    ],
    targetUrl: `${env.ownOrigin}/demo`,
  });
  const lines = [
    "",
    `  ${styleText("bold", "Agent Session Service")} is ready ${styleText("dim", `(${(readyMs / 1_000).toFixed(1)} s)`)}`,
    "",
    ...rows.map(([name, value]) => `  ${styleText("dim", name.padEnd(9))} ${value}`),
    "",
    "  To start a session in the browser, open this link and press Sign in (the link signs in once):",
    `  ${styleText("cyan", login)}`,
    "",
    "  Or start one from another terminal:",
    `  curl -s ${env.baseUrl}/api/session -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '${body}'`,
    "",
  ];
  process.stdout.write(`${lines.join("\n")}\n`);
}
