import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, resolve, sep } from "node:path";
import { test } from "node:test";

const root = resolve(import.meta.dirname, "../..");

/**
 * Matches files that need no import, because they are loaded by path: programs, worker threads, and files for tools.
 */
const LOADED_BY_PATH = [
  /^lib\/server\/(main|open-serverless)\.ts$/,
  /^lib\/(commands|deliverable|injected|variant)\/.*main\.ts$/,
  /(-worker|script-child|write-client-types|prepare-template)\.ts$/,
  /^lib\/test-runs\/runner\/(start|reporter)\.ts$/,
  /\.(config|d)\.ts$/,
];
/** A file that is generated from the contract. It may export types that no file imports. */
const GENERATED = "lib/client/wire.ts";

const files = ["app", "components", "lib", "inngest", "db", "e2e"]
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map(
      (path) => `${folder}/${path.split(sep).join("/")}`,
    ),
  )
  .filter((path) => /\.(tsx?|mjs)$/.test(path));
const texts = new Map(
  ["proxy.ts", "next.config.ts", ...files].map((path) => [path, readFileSync(join(root, path), "utf8")]),
);

/** Lists the files of this project that a file imports, by static or dynamic imports. */
function listImported(path: string, text: string): string[] {
  const specifiers = text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*["']([#.][^"']+)["']/g);
  return [...specifiers].map(([, specifier = ""]) =>
    specifier.startsWith("#")
      ? specifier.slice(1)
      : normalize(join(dirname(path), specifier))
          .split(sep)
          .join("/"),
  );
}

const importers = new Map<string, string[]>();
for (const [path, text] of texts)
  for (const target of listImported(path, text))
    importers.set(target, [...(importers.get(target) ?? []), path]);

const isTest = (path: string) => /(\.(test|spec)|(^|[/-])(testing|fixture))\.ts$|\/testing\//.test(path);
const sources = [...texts].filter(
  ([path]) => /^(components|lib|inngest|db)\/.*\.tsx?$/.test(path) && !isTest(path) && path !== GENERATED,
);

test("every file is imported or loaded by its path", () => {
  const unused = sources
    .map(([path]) => path)
    .filter((path) => !importers.has(path) && !LOADED_BY_PATH.some((pattern) => pattern.test(path)));
  assert.deepEqual(unused, []);
});

test("every export is used by another file", () => {
  const declaration =
    /^export (?:declare )?(?:async )?(?:function\*?|const|let|class|type|interface) (\w+)/gm;
  const unused = sources.flatMap(([path, text]) => {
    if (LOADED_BY_PATH.some((pattern) => pattern.test(path))) return [];
    // If another file re-exports this whole file (`db/schema/index.ts`, `lib/client/index.ts`), all its exports count
    // as used.
    const users = (importers.get(path) ?? []).map((importer) => texts.get(importer) ?? "");
    if (users.some((user) => /^export \* from/m.test(user))) return [];
    return [...text.matchAll(declaration)]
      .map(([, name = ""]) => name)
      .filter((name) => !users.some((user) => new RegExp(`\\b${name}\\b`).test(user)))
      .map((name) => `${path} exports ${name}, which no other file imports`);
  });
  assert.deepEqual(unused, []);
});
