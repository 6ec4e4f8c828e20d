import type { ListedKey } from "#lib/keys/manage-keys.ts";
import { countOf } from "#lib/text/count-of.ts";
import { formatTable } from "../format-table.ts";
import type { OperatorClient } from "../open-operator-client.ts";
import type { KeysCommand } from "./read-command.ts";

type Counts = { resealed: number; unreadable: number; remaining: number; nextCursor: string | null };

type Answer = { error?: string; key?: string; record?: ListedKey; old?: ListedKey; data?: ListedKey[] };

/** A command that calls operations of the service. */
type KeyRequest = Exclude<KeysCommand, { kind: "invalid" | "help" }>;

/** A command that calls exactly one operation. */
type SingleRequest = Exclude<KeyRequest, { kind: "rotate-encryption" }>;

/** Runs a command and returns the lines to print. */
export async function runKeysCommand(
  client: OperatorClient,
  command: KeyRequest,
  now = new Date(),
): Promise<{ isDone: boolean; lines: string[] }> {
  if (command.kind === "rotate-encryption") return rotateEncryption(client);
  const response = await send(client, command);
  // The contract defines these fields. If another server, such as a proxy, answers, all of them may be missing.
  const answer = (await response.json().catch(() => ({}))) as Answer;
  if (!response.ok) return { isDone: false, lines: [describeError(response, answer)] };
  return { isDone: true, lines: describeAnswer(answer, now) };
}

const describeError = (response: Response, { error }: { error?: string }): string =>
  error ?? `The service responded with status ${response.status}.`;

/**
 * Repeats the operation until it has processed the whole database, or until it fails. Each call continues where the
 * previous one stopped.
 */
async function rotateEncryption(client: OperatorClient): Promise<{ isDone: boolean; lines: string[] }> {
  const total = { resealed: 0, unreadable: 0 };
  let cursor: string | null = null;
  for (;;) {
    const response: Response = await client.request(
      "POST",
      "/actions/encryption/rotate",
      cursor === null ? {} : { cursor },
    );
    const answer = (await response.json().catch(() => ({}))) as Partial<Counts> & { error?: string };
    if (!response.ok || answer.nextCursor === undefined) {
      const done = total.resealed > 0 ? [describeResealed(total.resealed)] : [];
      return { isDone: false, lines: [...done, describeError(response, answer), RUN_AGAIN] };
    }
    total.resealed += answer.resealed ?? 0;
    total.unreadable += answer.unreadable ?? 0;
    cursor = answer.nextCursor;
    if (cursor === null) return describeEnd({ ...total, remaining: answer.remaining ?? 0 });
  }
}

const RUN_AGAIN = "Run the command again to continue.";

const describeResealed = (count: number): string =>
  `${countOf(count, "stored value was", "stored values were")} encrypted with the current ENCRYPTION_KEY.`;

function describeEnd({ resealed, unreadable, remaining }: Omit<Counts, "nextCursor">) {
  const lines = [describeResealed(resealed)];
  if (remaining === 0)
    return {
      isDone: true,
      lines: [
        ...lines,
        "0 are left. Stored values no longer need ENCRYPTION_KEY_PREVIOUS. When you remove it, share links and MCP tokens that it signed stop working.",
      ],
    };
  const why =
    unreadable > 0
      ? `${unreadable} of them were encrypted with a key that is not configured: name that key in ENCRYPTION_KEY_PREVIOUS.`
      : "A process that still uses another ENCRYPTION_KEY has written them: restart it with the new key.";
  return { isDone: false, lines: [...lines, `${remaining} are left. ${why}`, RUN_AGAIN] };
}

function send(client: OperatorClient, command: SingleRequest): Promise<Response> {
  const path = "/actions/keys";
  switch (command.kind) {
    case "list":
      return client.request(
        "GET",
        command.owner === undefined ? path : `${path}?owner=${encodeURIComponent(command.owner)}`,
      );
    case "create":
      return client.request("POST", path, command.body);
    case "revoke":
      return client.request("DELETE", `${path}/${encodeURIComponent(command.id)}`);
    case "update":
      return client.request("PATCH", `${path}/${encodeURIComponent(command.id)}`, command.body);
    case "rotate":
      return client.request("POST", `${path}/${encodeURIComponent(command.id)}/rotate`, command.body);
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
