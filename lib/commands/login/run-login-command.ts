import type { Login } from "#lib/client/wire.ts";
import { formatTable } from "../format-table.ts";
import type { OperatorClient } from "../open-operator-client.ts";
import type { LoginCommand } from "./read-command.ts";

type Outcome = { isDone: boolean; lines: string[] };
/** A command that calls operations of the service. */
type LoginRequest = Exclude<LoginCommand, { kind: "invalid" | "help" }>;

const PATH = "/actions/logins";

/** Runs a command and returns the lines to print. */
export async function runLoginCommand(client: OperatorClient, command: LoginRequest): Promise<Outcome> {
  if (command.kind === "end") {
    const ended = await call(client, "DELETE", `${PATH}/${encodeURIComponent(command.id)}`);
    return ended.isDone ? done([`The login ${command.id} has ended.`]) : ended;
  }
  const listed = await call(client, "GET", PATH);
  if (!listed.isDone) return listed;
  // A command that calls a running service has a login of its own there, which is neither listed nor ended.
  const logins = listed.data.filter(({ isCurrent }) => !isCurrent);
  if (command.kind === "list") return done(describeLogins(logins));
  for (const { id } of logins) {
    const ended = await call(client, "DELETE", `${PATH}/${id}`);
    if (!ended.isDone) return ended;
  }
  return done([logins.length === 1 ? "1 login has ended." : `${logins.length} logins have ended.`]);
}

type Called = { isDone: true; data: Login[] } | { isDone: false; lines: string[] };

async function call(client: OperatorClient, method: string, path: string): Promise<Called> {
  const response = await client.request(method, path);
  // The contract defines these fields. If another server, such as a proxy, answers, all of them may be missing.
  const answer = (await response.json().catch(() => ({}))) as { error?: string; data?: Login[] };
  if (response.ok) return { isDone: true, data: answer.data ?? [] };
  return {
    isDone: false,
    lines: [answer.error ?? `The service responded with status ${response.status}.`],
  };
}

const done = (lines: string[]): Outcome => ({ isDone: true, lines });

const HEAD = ["id", "account", "signed in", "last used", "ends", "browser"];

function describeLogins(logins: Login[]): string[] {
  if (logins.length === 0) return ["No person is signed in."];
  return formatTable(
    HEAD,
    logins.map(({ id, account, createdAt, lastSeenAt, expiresAt, userAgent }) => [
      id,
      account ?? "login link",
      minute(createdAt),
      minute(lastSeenAt),
      minute(expiresAt),
      userAgent ?? "unknown",
    ]),
  );
}

const minute = (iso: string) => `${iso.slice(0, 16).replace("T", " ")}Z`;
