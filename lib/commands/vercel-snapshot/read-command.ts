import { parseArgs } from "node:util";
import { parseWords } from "../parse-words.ts";

/** A parsed command line. An `invalid` one contains the error message for the user. */
type SnapshotCommand =
  | { kind: "help" }
  | { kind: "make"; image: string | undefined; expireDays: number | undefined }
  | { kind: "invalid"; message: string };

export const SNAPSHOT_USAGE = `Usage: npm run vercel-snapshot [-- <option> …]

Makes a snapshot of Vercel Sandbox with Chromium and bubblewrap, and prints its id.

  --image <name>        the image to start from; by default Vercel's own
  --expire-days <days>  when the snapshot expires; 0: never; by default Vercel decides`;

const EXPIRE_DAYS_MAX = 3_650;

/** Parses the arguments of `npm run vercel-snapshot --`. */
export function readSnapshotCommand(words: string[]): SnapshotCommand {
  const outcome = parseWords(parse, words);
  if (!outcome.ok) return { kind: "invalid", message: outcome.message };
  const { help, image, "expire-days": days } = outcome.parsed.values;
  if (help) return { kind: "help" };
  if (days !== undefined && !(/^\d{1,4}$/.test(days) && Number(days) <= EXPIRE_DAYS_MAX))
    return {
      kind: "invalid",
      message: `--expire-days must be a whole number from 0 to ${EXPIRE_DAYS_MAX}.`,
    };
  if (image === "") return { kind: "invalid", message: "--image must name an image." };
  return { kind: "make", image, expireDays: days === undefined ? undefined : Number(days) };
}

const OPTIONS = {
  image: { type: "string" },
  "expire-days": { type: "string" },
  help: { type: "boolean", short: "h" },
} as const;
const parse = (words: string[]) => parseArgs({ args: words, options: OPTIONS });
