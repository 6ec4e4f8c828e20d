import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve, sep } from "node:path";
import { test } from "node:test";

const root = resolve(import.meta.dirname, "../..");
/** Rooms with code that runs inside pages. */
const ROOMS = ["lib/browser", "lib/injected", "lib/tools", "lib/variant"];
/** Code that reads members of nodes directly, where a page could hide them. */
const DIRECT = [
  /\bdocument\.(body|head|title|fonts|documentElement|scrollingElement|querySelector\w*|create[A-Z]\w*|getElement\w+|readyState|(add|remove)EventListener|activeElement|\w*[sS]tyleSheets|elementFromPoint|forms)\b/,
  /\binstanceof (Element|HTMLElement|Node|Document)\b/,
  /[:<|(] ?(Element|HTMLElement|Node)(\[\])?( \||[,;)>=]| =>)/,
  /\.evaluate(All)?\(\s*(async )?\(\) =>/,
];
/**
 * Files that a page cannot mislead, although they match: the view of the overlay has only nodes of its own, `compile`
 * works on documents of the service, and other products run the scripts of exports.
 */
const ALLOWED = [
  /^lib\/injected\/overlay\/overlay-(view|editor)\.ts$/,
  /^lib\/variant\/compile\//,
  /^lib\/variant\/formats\/portable\/page-script\.ts$/,
  /^lib\/variant\/formats\/growthbook\/insert-script\.ts$/,
];

const files = ROOMS.flatMap((room) =>
  readdirSync(join(root, room), { recursive: true, encoding: "utf8" }).map(
    (path) => `${room}/${path.split(sep).join("/")}`,
  ),
).filter(
  (path) =>
    path.endsWith(".ts") &&
    !/\.test\.ts$|testing\.ts$|fixture\.ts$|nasty-pages\.ts$/.test(path) &&
    !ALLOWED.some((pattern) => pattern.test(path)),
);

test("code that runs inside pages reads nodes only through lib/dom", () => {
  const found = files.flatMap((path) =>
    readFileSync(join(root, path), "utf8")
      .split("\n")
      .flatMap((line, index) =>
        !/^\s*(\/\/|\*|\/\*)/.test(line) && DIRECT.some((pattern) => pattern.test(line))
          ? [`${path}:${index + 1} ${line.trim()}`]
          : [],
      ),
  );
  assert.deepEqual(found, []);
});
