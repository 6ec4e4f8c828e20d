import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const ROOT = join(import.meta.dirname, "../..");
/** The folders with listeners of browsers, apart from code that runs inside pages. */
const FOLDERS = ["lib/browser", "lib/variant", "lib/tools/browser"];
const LISTENER =
  /\b(page|context|browser|cdp|session|socket)\.(on|once)\(\s*"(?<event>[\w.]+)",\s*(?<listener>[\w.]+)/g;
/** Events of sockets to other machines, whose listeners only settle a promise or end the socket. */
const OTHERS = new Set(["secureConnect", "timeout", "error", "open"]);

test("every listener of a browser's events is guarded, so that its errors end that browser and not the process", () => {
  let guarded = 0;
  const unguarded = FOLDERS.flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: ROOT }))
    .filter((path) => !/\.test\.ts$|testing\.ts$|\/script\/child\//.test(path))
    .flatMap((path) => {
      const source = readFileSync(join(ROOT, path), "utf8");
      const isGuarded = (listener: string) =>
        /(^|\.)guard$/.test(listener) || new RegExp(`const ${listener} = guard\\(`).test(source);
      return [...source.matchAll(LISTENER)].flatMap(
        ({ 0: call, groups: { event = "", listener = "" } = {} }) => {
          if (OTHERS.has(event)) return [];
          if (!isGuarded(listener)) return [`${path}: ${call.replace(/\s+/g, " ")}`];
          guarded += 1;
          return [];
        },
      );
    });
  // Opens a cache entry for the life of a DevTools session; the listener only removes that entry.
  assert.deepEqual(unguarded, ['lib/tools/browser/page-kit/tool-world.ts: session.once("close", evict']);
  assert.ok(guarded > 30, `only ${guarded} listeners were found`);
});
