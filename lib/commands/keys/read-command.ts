import { parseArgs } from "node:util";
import { parseWords } from "../parse-words.ts";

/** A parsed command line. An `invalid` one contains the error message for the user. */
export type KeysCommand =
  | { kind: "help" }
  | { kind: "create"; body: { ownerId: string; name: string; scopes?: string[]; expiresInDays?: number } }
  | { kind: "list"; owner: string | undefined }
  | { kind: "revoke"; id: string }
  | { kind: "update"; id: string; body: { scopes: string[] } }
  | { kind: "rotate"; id: string; body: { overlapHours?: number } }
  | { kind: "rotate-encryption" }
  | { kind: "invalid"; message: string };

export const KEYS_USAGE = `Usage: npm run keys -- <command>

  create [--owner <owner>] [--name <purpose>] [--scopes sessions:read,sessions:write] [--expires 90d]
  list   [--owner <owner>]
  revoke <id>
  update <id> --scopes sessions:read   replaces the scopes of a key
  rotate <id> [--overlap 24h]     replaces a key; the old key stays valid for the overlap
  rotate-encryption               encrypts stored secrets with ENCRYPTION_KEY, after a change of it`;

const OPTIONS = {
  owner: { type: "string" },
  name: { type: "string" },
  scopes: { type: "string" },
  expires: { type: "string" },
  overlap: { type: "string" },
  help: { type: "boolean", short: "h" },
} as const;

const ALLOWED: Record<string, { options: (keyof typeof OPTIONS)[]; takesId: boolean }> = {
  create: { options: ["owner", "name", "scopes", "expires"], takesId: false },
  list: { options: ["owner"], takesId: false },
  revoke: { options: [], takesId: true },
  update: { options: ["scopes"], takesId: true },
  rotate: { options: ["overlap"], takesId: true },
  "rotate-encryption": { options: [], takesId: false },
};

/** The owner of a key that is created without `--owner`. The landing page and the generated key use the same owner. */
const DEFAULT_OWNER = "local";

/** Parses the arguments of `npm run keys --`. */
export function readKeysCommand(words: string[]): KeysCommand {
  const outcome = parseWords(parse, words);
  if (!outcome.ok) return invalid(outcome.message);
  const { values, positionals } = outcome.parsed;
  const [kind = "", id, extra] = positionals;
  if (values.help || kind === "help") return { kind: "help" };
  const allowed = ALLOWED[kind];
  if (!allowed) return invalid(kind === "" ? "Missing command." : `Unknown command: ${kind}.`);
  const stray = Object.keys(values).find((name) => !allowed.options.some((option) => option === name));
  if (stray) return invalid(`${kind} does not accept --${stray}.`);
  if (extra !== undefined || (id !== undefined && !allowed.takesId))
    return invalid(`Unexpected argument: ${extra ?? id}.`);
  if (allowed.takesId && !id)
    return invalid(`${kind} requires the id of a key. The list command shows the ids.`);
  switch (kind) {
    case "list":
      return { kind, owner: values.owner };
    case "rotate-encryption":
      return { kind };
    case "revoke":
      return { kind, id: id ?? "" };
    case "update":
      return readUpdate(id ?? "", values.scopes);
    case "rotate":
      return readRotate(id ?? "", values.overlap);
    default:
      return readCreate(values);
  }
}

const parse = (words: string[]) => parseArgs({ args: words, options: OPTIONS, allowPositionals: true });

function readCreate(values: ReturnType<typeof parse>["values"]): KeysCommand {
  const hours = values.expires === undefined ? undefined : readHours(values.expires);
  if (values.expires !== undefined && !hours)
    return invalid(`--expires ${values.expires}: must be a duration such as 90d or 12h.`);
  const scopes = values.scopes === undefined ? undefined : splitScopes(values.scopes);
  const { owner: ownerId = DEFAULT_OWNER, name = "unnamed" } = values;
  return {
    kind: "create",
    body: { ownerId, name, ...(scopes && { scopes }), ...(hours && { expiresInDays: hours / 24 }) },
  };
}

function readUpdate(id: string, scopes: string | undefined): KeysCommand {
  if (scopes === undefined) return invalid("update requires --scopes.");
  return { kind: "update", id, body: { scopes: splitScopes(scopes) } };
}

const splitScopes = (text: string): string[] => text.split(",").map((scope) => scope.trim());

function readRotate(id: string, overlap: string | undefined): KeysCommand {
  const overlapHours = overlap === undefined ? undefined : readHours(overlap);
  if (overlap !== undefined && overlapHours === undefined)
    return invalid(`--overlap ${overlap}: must be a duration such as 24h, 7d or 0h.`);
  return { kind: "rotate", id, body: overlapHours === undefined ? {} : { overlapHours } };
}

/** Converts a duration such as `90d`, `12h` or `30m` to hours. Returns undefined for an invalid duration. */
function readHours(text: string): number | undefined {
  const [, digits, unit] = /^(\d{1,5})(m|h|d)$/.exec(text) ?? [];
  if (digits === undefined) return undefined;
  return Number(digits) * (unit === "d" ? 24 : unit === "h" ? 1 : 1 / 60);
}

const invalid = (message: string): KeysCommand => ({ kind: "invalid", message });
