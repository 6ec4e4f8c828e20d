import type { ListedKey } from "#lib/keys/manage-keys.ts";
import { formatTable } from "../format-table.ts";
import type { OperatorDesk } from "../open-operator-desk.ts";
import type { KeysCommand } from "./read-command.ts";

type Answer = { error?: string; key?: string; record?: ListedKey; old?: ListedKey; data?: ListedKey[] };

/** A command that calls the service. */
type KeyRequest = Exclude<KeysCommand, { kind: "invalid" | "help" }>;

/** Runs a command and returns the lines to print. */
export async function runKeysCommand(
  desk: OperatorDesk,
  command: KeyRequest,
  now = new Date(),
): Promise<{ isDone: boolean; lines: string[] }> {
  const response = await send(desk, command);
  // The contract defines these fields; an answer of another server, such as a proxy, may have none of them.
  const answer = (await response.json().catch(() => ({}))) as Answer;
  if (!response.ok)
    return {
      isDone: false,
      lines: [answer.error ?? `The service responded with status ${response.status}.`],
    };
  return { isDone: true, lines: describeAnswer(answer, now) };
}

function send(desk: OperatorDesk, command: KeyRequest): Promise<Response> {
  const path = "/actions/keys";
  switch (command.kind) {
    case "list":
      return desk.ask(
        "GET",
        command.owner === undefined ? path : `${path}?owner=${encodeURIComponent(command.owner)}`,
      );
    case "create":
      return desk.ask("POST", path, command.body);
    case "revoke":
      return desk.ask("DELETE", `${path}/${encodeURIComponent(command.id)}`);
    case "update":
      return desk.ask("PATCH", `${path}/${encodeURIComponent(command.id)}`, command.body);
    case "rotate":
      return desk.ask("POST", `${path}/${encodeURIComponent(command.id)}/rotate`, command.body);
  }
}

function describeAnswer({ key, record, old, data }: Answer, now: Date): string[] {
  if (data) return data.length === 0 ? ["There are no keys yet."] : table(data, now);
  if (!record) return [];
  const { id, ownerId, name, scopes } = record;
  if (key === undefined)
    return record.revokedAt
      ? [`${id} of ${ownerId} (${name}) is revoked.`]
      : [`${id} of ${ownerId} (${name}): ${scopes.join(", ")}; ${endOf(record, now)}.`];
  return [
    `${id} of ${ownerId} (${name}): ${scopes.join(", ")}; ${endOf(record, now)}.`,
    "",
    key,
    "",
    "The key is shown only once. The service stores only a hash of it.",
    ...(old ? [`The old key ${old.id}: ${endOf(old, now)}.`] : []),
  ];
}

const HEAD = ["id", "owner", "name", "scopes", "created", "last used", "state"];

function table(keys: ListedKey[], now: Date): string[] {
  const rows = keys.map((key) => [
    key.id,
    key.ownerId,
    key.name,
    key.scopes.join(","),
    day(key.createdAt),
    key.lastUsedAt ? minute(key.lastUsedAt) : "never",
    endOf(key, now),
  ]);
  return formatTable(HEAD, rows);
}

function endOf({ revokedAt, expiresAt }: ListedKey, now: Date): string {
  if (revokedAt) return `revoked ${minute(revokedAt)}`;
  if (!expiresAt) return "active";
  return new Date(expiresAt) <= now ? `expired ${minute(expiresAt)}` : `active until ${minute(expiresAt)}`;
}

const day = (iso: string) => iso.slice(0, 10);
const minute = (iso: string) => `${iso.slice(0, 16).replace("T", " ")}Z`;
