import { parseArgs } from "node:util";

/** What somebody asked the keys command for; `wrong` holds the sentence to show instead. */
export type KeysCommand =
  | { kind: "help" }
  | { kind: "create"; body: { ownerId: string; name: string; scopes?: string[]; expiresInDays?: number } }
  | { kind: "list"; owner: string | undefined }
  | { kind: "revoke"; id: string }
  | { kind: "rotate"; id: string; body: { overlapHours?: number } }
  | { kind: "wrong"; sentence: string };

export const KEYS_USAGE = `Usage: npm run keys -- <command>

  create [--owner <owner>] [--name <what it is for>] [--scopes sessions:read,sessions:write] [--expires 90d]
  list   [--owner <owner>]
  revoke <id>
  rotate <id> [--overlap 24h]     makes its successor; the old key goes on for the overlap`;

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
  rotate: { options: ["overlap"], takesId: true },
};

/** Whose keys are where nothing is said: those of the landing page and of the generated key. */
const OWNER = "local";

/** Reads the words behind `npm run keys --`. */
export function readKeysCommand(words: string[]): KeysCommand {
  let given: ReturnType<typeof parse>;
  try {
    given = parse(words);
  } catch (error) {
    return wrong(error instanceof Error ? error.message : String(error));
  }
  const { values, positionals } = given;
  const [kind = "", id, extra] = positionals;
  if (values.help || kind === "help") return { kind: "help" };
  const allowed = ALLOWED[kind];
  if (!allowed) return wrong(kind === "" ? "Which command?" : `There is no command ${kind}.`);
  const stray = Object.keys(values).find((name) => !allowed.options.some((option) => option === name));
  if (stray) return wrong(`${kind} takes no --${stray}.`);
  if (extra !== undefined || (id !== undefined && !allowed.takesId))
    return wrong(`${extra ?? id}: one word too many.`);
  if (allowed.takesId && !id) return wrong(`${kind} takes the id of a key; list shows them.`);
  switch (kind) {
    case "list":
      return { kind, owner: values.owner };
    case "revoke":
      return { kind, id: id ?? "" };
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
    return wrong(`--expires ${values.expires}: must be like 90d or 12h.`);
  const scopes = values.scopes?.split(",").map((scope) => scope.trim());
  const { owner: ownerId = OWNER, name = "unnamed" } = values;
  return {
    kind: "create",
    body: { ownerId, name, ...(scopes && { scopes }), ...(hours && { expiresInDays: hours / 24 }) },
  };
}

function readRotate(id: string, overlap: string | undefined): KeysCommand {
  const overlapHours = overlap === undefined ? undefined : readHours(overlap);
  if (overlap !== undefined && overlapHours === undefined)
    return wrong(`--overlap ${overlap}: must be like 24h, 7d or 0h.`);
  return { kind: "rotate", id, body: overlapHours === undefined ? {} : { overlapHours } };
}

/** The hours of `90d`, `12h` or `30m`. */
function readHours(text: string): number | undefined {
  const [, digits, unit] = /^(\d{1,5})(m|h|d)$/.exec(text) ?? [];
  if (digits === undefined) return undefined;
  return Number(digits) * (unit === "d" ? 24 : unit === "h" ? 1 : 1 / 60);
}

const wrong = (sentence: string): KeysCommand => ({ kind: "wrong", sentence });
