import type { Workspace } from "#lib/sandbox/sandbox-service.ts";

/** Playwright's default pattern for the names of test files. */
const TEST_FILE = /\.(?:spec|test)\.[cm]?[jt]sx?$/;
const IGNORED = ["node_modules", "test-results"];
const ENTRIES_MAX = 20_000;
const FILES_SHOWN = 10;

/**
 * Finds the requested test files in a workspace.
 *
 * @param requested paths of files and folders. An empty list means all test files.
 * @returns regular expressions for Playwright's runner, one for each requested path; an empty list means all test
 * files. If the workspace or a requested path contains no test file, returns a sentence about the problem instead.
 */
export async function findTestFiles(
  workspace: Workspace,
  requested: readonly string[],
): Promise<{ ok: true; patterns: string[] } | { ok: false; problem: string }> {
  const entries = await workspace.list("", {
    recursive: true,
    limit: ENTRIES_MAX,
    closed: IGNORED,
  });
  const tests = entries
    .filter(({ type, path }) => type === "file" && TEST_FILE.test(path))
    .map(({ path }) => path);
  const cut =
    entries.length === ENTRIES_MAX
      ? ` Only its first ${ENTRIES_MAX} files and folders were searched; remove what is not needed.`
      : "";
  const hint =
    tests.length === 0
      ? `The workspace has no test files: their names end in .spec.ts or .test.ts (or .js, .mjs, .tsx).${cut}`
      : `The workspace has ${tests.slice(0, FILES_SHOWN).join(", ")}${tests.length > FILES_SHOWN ? ", …" : ""}.${cut}`;
  if (tests.length === 0) return { ok: false, problem: hint };
  const patterns: string[] = [];
  for (const name of requested) {
    const path = normalize(name);
    if (path === "") return { ok: true, patterns: [] };
    const matching = tests.filter((test) => test === path || test.startsWith(`${path}/`));
    if (matching.length === 0) return { ok: false, problem: `There is no test file at ${name}. ${hint}` };
    patterns.push(`^/workspace/${escapeRegExp(path)}${tests.includes(path) ? "$" : "/"}`);
  }
  return { ok: true, patterns };
}

const normalize = (path: string) =>
  path
    .replace(/^\/workspace(?=\/|$)/, "")
    .split("/")
    .filter((part) => part !== "" && part !== ".")
    .join("/");

const escapeRegExp = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
