import { parseArgs } from "node:util";
import { parseWords } from "../parse-words.ts";

/** A parsed command line. An `invalid` one contains the error message for the user. */
export type LoginCommand =
  | { kind: "help" }
  | { kind: "list" }
  | { kind: "end"; id: string }
  | { kind: "end-all" }
  | { kind: "invalid"; message: string };

export const LOGIN_USAGE = `Usage: npm run login [-- <command>]

  (no command)   prints a login link for the landing page
  list           lists the browsers that are signed in
  end <id>       ends a login
  end --all      ends all logins`;

/** Parses the arguments of `npm run login --`. */
export function readLoginCommand(words: string[]): LoginCommand {
  const outcome = parseWords(parse, words);
  if (!outcome.ok) return invalid(outcome.message);
  const { values, positionals } = outcome.parsed;
  const [kind = "", id, extra] = positionals;
  if (values.help || kind === "help") return { kind: "help" };
  if (kind !== "list" && kind !== "end")
    return invalid(kind === "" ? "Missing command." : `Unknown command: ${kind}.`);
  if (kind === "list" && values.all) return invalid("list does not accept --all.");
  const unexpected = kind === "list" || values.all ? id : extra;
  if (unexpected !== undefined) return invalid(`Unexpected argument: ${unexpected}.`);
  if (kind === "list") return { kind };
  if (values.all) return { kind: "end-all" };
  if (!id) return invalid("end requires the id of a login, or --all. The list command shows the ids.");
  return { kind, id };
}

const OPTIONS = { all: { type: "boolean" }, help: { type: "boolean", short: "h" } } as const;
const parse = (words: string[]) => parseArgs({ args: words, options: OPTIONS, allowPositionals: true });
const invalid = (message: string): LoginCommand => ({ kind: "invalid", message });
