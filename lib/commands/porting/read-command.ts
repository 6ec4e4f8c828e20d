import { parseArgs } from "node:util";
import { parseWords } from "../parse-words.ts";

export const PORTING_USAGE = `Usage:

  npm run export -- <sessionId> [--format json|html] [--evidence] [--out <file>]
      Writes a session to a file: its conversation, variants, plan, requirements, results, reports and previews.
      --format    json (default), which can be imported, or html, one file for people to read
      --evidence  include pictures and files in the JSON, up to 20 MiB in total
      --out       the file to write; it must not exist. Default: named after the session's title

  npm run import -- <file> --session <sessionId>
      Imports a session's or variant's JSON export, or a document of GrowthBook or PostHog, into a session that exists.

Both work while the service runs and while it is stopped. They use the database of the service's settings. While a running
service owns the embedded database, they call that service with the API keys of the settings. For a session of another
owner, pass that owner's API key with --key <API key>.`;

/** A parsed command line. An `invalid` one contains the error message for the user. */
export type PortingCommand =
  | {
      kind: "export";
      sessionId: string;
      format: "json" | "html";
      hasBytes: boolean;
      out: string | undefined;
      key: string | undefined;
    }
  | { kind: "import"; file: string; sessionId: string; key: string | undefined }
  | { kind: "help" }
  | { kind: "invalid"; message: string };

const OPTIONS = {
  format: { type: "string" },
  evidence: { type: "boolean" },
  out: { type: "string" },
  session: { type: "string" },
  key: { type: "string" },
  help: { type: "boolean", short: "h" },
} as const;

/** Parses the arguments of `npm run export` and `npm run import`. The first word is the name of the command. */
export function readPortingCommand([name, ...words]: string[]): PortingCommand {
  const outcome = parseWords(parse, words);
  if (!outcome.ok) return invalid(outcome.message);
  const { values, positionals } = outcome.parsed;
  if (values.help) return { kind: "help" };
  const [subject, ...rest] = positionals;
  if (rest.length > 0) return invalid(`Unexpected argument: ${rest[0]}.`);
  const { key } = values;
  if (name === "import") {
    if (values.format !== undefined || values.evidence || values.out !== undefined)
      return invalid("import takes a file, --session and --key only.");
    if (subject === undefined) return invalid("The file to import is missing.");
    if (values.session === undefined) return invalid("--session is missing: the session to import into.");
    return { kind: "import", file: subject, sessionId: values.session, key };
  }
  if (values.session !== undefined)
    return invalid("export takes the session's id as its argument, not --session.");
  if (subject === undefined) return invalid("The id of the session to export is missing.");
  const { format = "json", evidence: hasBytes = false, out } = values;
  if (format !== "json" && format !== "html") return invalid(`--format ${format}: must be json or html.`);
  if (hasBytes && format === "html")
    return invalid("--evidence is for JSON; the HTML always has its pictures.");
  return { kind: "export", sessionId: subject, format, hasBytes, out, key };
}

const parse = (args: string[]) => parseArgs({ args, allowPositionals: true, options: OPTIONS });

const invalid = (message: string): PortingCommand => ({ kind: "invalid", message });
