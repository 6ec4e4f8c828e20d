import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Import, listFiles, readImports } from "./read-imports.ts";

const folders = ["app", "components", "inngest", "db", "lib"];

// A room is a folder of lib, and each line is a floor. A room may import only itself and rooms on the lines below its
// own.
const floors = [
  ["mcp-server"],
  ["api"],
  ["page"],
  ["turn"],
  ["porting"],
  ["browser-host", "test-runs"],
  ["agents", "landing", "variant"],
  ["planning", "receipts", "skills"],
  ["tools"],
  ["browser", "sandbox", "deliverable", "mcp-client", "model", "annotation", "callback", "reports"],
  ["keys", "logins", "evidence", "publication", "projection"],
  ["session"],
  ["events", "injected"],
  ["net", "host-link", "secrets", "client", "faults", "markdown", "text", "isolation", "disk", "dom"],
  ["log", "security-log", "time", "catalogue"],
];

/** The alcoves (folders) of large rooms, and of components, in floors as above. The alcove "." has the files of the room's own folder. */
const alcoves: Record<string, string[][]> = {
  "lib/api": [
    ["next"],
    ["live", "serve"],
    ["handlers"],
    ["annotations", "answer-page", "files"],
    ["auth", "openapi"],
    ["http"],
    ["contract"],
    ["."],
  ],
  components: [
    ["embed"],
    ["session", "landing"],
    ["changes", "files", "live", "pages", "planning", "reports", "test-runs"],
    ["runtime"],
    ["theme", "."],
    ["ui"],
  ],
  "lib/turn": [
    ["."],
    ["phases", "structured"],
    ["step"],
    ["compaction"],
    ["prompt"],
    ["run"],
    ["record"],
    ["history"],
  ],
  "lib/session": [
    ["creation"],
    ["inbox"],
    ["budget", "elicitation", "follow-up", "list", "run"],
    ["waiting"],
    ["jobs", "quota", "removal", "secrets", "share", "transcript"],
    ["store"],
    ["."],
  ],
};

/**
 * Folders of lib that are on no floor, because they build, document and start the service. Of these folders, the tests
 * forbid only imports of `server`.
 */
const OUTSIDE = ["server", "setup", "commands", "docs"];

const files = folders.flatMap((folder) => listFiles(folder));
const imports = files.filter((file) => /\.tsx?$/.test(file)).flatMap((file) => readImports(file));

describe("the architecture's import directions", () => {
  test("the test reads every form of import, with its line and whether it imports only types", () => {
    const text = [
      'import type { A } from "#lib/net/a.ts";',
      'import { type B, c } from "../net/b.ts";',
      "export {",
      "  type D,",
      '} from "#db/schema/unions.ts";',
      'import "server-only";',
      'const late = await import("#lib/net/c.ts");',
    ].join("\n");
    const found = readImports("lib/events/x.ts", text).map((entry) => [
      entry.line,
      entry.target,
      entry.isTypeOnly,
    ]);
    assert.deepEqual(found, [
      [1, "lib/net/a.ts", true],
      [2, "lib/net/b.ts", false],
      [3, "db/schema/unions.ts", true],
      [6, undefined, false],
      [7, "lib/net/c.ts", false],
    ]);
  });

  test("every folder of lib is a room on a known floor", () => {
    const rooms = new Set(files.filter((file) => /^lib\/[^/]+\//.test(file)).map((file) => roomOf(file)));
    const unknown = [...rooms].filter((room) => !OUTSIDE.includes(room) && floorOf(room) === undefined);
    assert.ok(
      unknown.length === 0,
      `No floor is known for ${unknown.map((room) => `lib/${room}`).join(", ")}`,
    );
  });

  test("a room of lib imports only rooms on lower floors, and db", () => {
    forbid("a room imports only rooms on lower floors, and db", ({ file, target }) => {
      if (!file.startsWith("lib/") || OUTSIDE.includes(roomOf(file)) || target === undefined) return false;
      if (target.startsWith("db/")) return false;
      if (isTestFile(file) && target.startsWith("e2e/")) return false;
      if (!target.startsWith("lib/")) return true;
      const own = floorOf(roomOf(file));
      const reached = floorOf(roomOf(target));
      if (roomOf(file) === roomOf(target) || own === undefined || OUTSIDE.includes(roomOf(target)))
        return false;
      return reached === undefined || reached >= own;
    });
  });

  test("an alcove of a large room imports only alcoves on lower floors", () => {
    for (const [room, lines] of Object.entries(alcoves)) {
      const alcoveOf = (path: string) => path.slice(room.length + 1).match(/^[^/]+(?=\/)/)?.[0] ?? ".";
      const floor = (alcove: string) => lines.findIndex((line) => line.includes(alcove));
      const inRoom = (path: string | undefined) => path?.startsWith(`${room}/`) === true;
      const unknown = files.filter(
        (file) => inRoom(file) && floor(alcoveOf(file)) === -1 && !isTestFile(file),
      );
      assert.deepEqual(unknown, [], `No floor is known for these alcoves of ${room}`);
      forbid(`an alcove of ${room} imports only alcoves on lower floors`, ({ file, target }) => {
        if (target === undefined || !inRoom(file) || !inRoom(target) || isTestFile(file)) return false;
        const [own, reached] = [alcoveOf(file), alcoveOf(target)];
        return own !== reached && floor(reached) <= floor(own);
      });
    }
  });

  test("only lib/server, the commands and the set-up import lib/server", () => {
    forbid("values of lib/server are passed in by the container", ({ file, target }) => {
      return target?.startsWith("lib/server/") === true && !/^lib\/(server|commands|setup)\//.test(file);
    });
  });

  test("app imports only itself, components, lib/api and lib/page", () => {
    forbid("app is thin: it imports components, lib/api and lib/page", ({ file, target }) => {
      return (
        file.startsWith("app/") &&
        isOutside(target, ["app/", "components/", "lib/api/", "lib/page/", "public/"])
      );
    });
  });

  test("components import only components, lib/page, lib/client, lib/markdown and lib/text", () => {
    forbid(
      "of lib, components import only lib/page, lib/client, lib/markdown and lib/text",
      ({ file, target }) => {
        return (
          file.startsWith("components/") &&
          isOutside(target, ["components/", "lib/page/", "lib/client/", "lib/markdown/", "lib/text/"])
        );
      },
    );
  });

  test("inngest imports only itself, lib and db", () => {
    forbid("inngest imports only lib and db", ({ file, target }) => {
      if (isTestFile(file) && target?.startsWith("e2e/fixtures/")) return false;
      return file.startsWith("inngest/") && isOutside(target, ["inngest/", "lib/", "db/"]);
    });
  });

  test("db imports nothing but db", () => {
    forbid(
      "db is the lowest floor",
      ({ file, target }) => file.startsWith("db/") && isOutside(target, ["db/"]),
    );
  });

  test("in lib only stores import Drizzle and the tables", () => {
    forbid(
      "only stores and lib/events import Drizzle and the tables",
      ({ file, specifier, target, isTypeOnly }) => {
        if (!file.startsWith("lib/") || isTypeOnly || isTestFile(file) || isStore(file)) return false;
        if (/^drizzle-orm(\/|$)/.test(specifier)) return true;
        return target?.startsWith("db/schema/") === true && target !== "db/schema/unions.ts";
      },
    );
  });

  test("imports form no cycles, those of types included", () => {
    const tests = listFiles("e2e").filter((file) => /\.tsx?$/.test(file));
    const all = [...imports, ...tests.flatMap((file) => readImports(file))];
    const cycles = findCycles(all.filter(({ isDynamic }) => !isDynamic));
    assert.ok(cycles.length === 0, `Import cycles:\n${cycles.join("\n")}`);
  });

  test("lib, inngest and db contain only .ts files, except the set-up scripts that run before TypeScript is installed", () => {
    const others = files.filter((file) => {
      if (file.startsWith("app/") || file.startsWith("components/")) return false;
      // Scripts of skills are JavaScript, because the Node version in the sandbox may not support TypeScript.
      if (/^lib\/skills\/(library|shared)\//.test(file)) return false;
      // The sandbox loads this file as a CommonJS package.
      if (file === "lib/test-runs/runner/playwright-test.cjs") return false;
      return /\.([cm]?jsx?|tsx|[cm]ts)$/.test(file) && !/^lib\/setup\/.+\.mjs$/.test(file);
    });
    assert.ok(others.length === 0, `Not .ts: ${others.join(", ")}`);
  });
});

/** Fails if any import breaks the rule. The error lists each forbidden import with its file and line. */
function forbid(rule: string, isForbidden: (entry: Import) => boolean): void {
  const faults = imports
    .filter((entry) => isForbidden(entry))
    .map(({ file, line, specifier }) => `${file}:${line} imports ${specifier}: ${rule}`);
  assert.ok(faults.length === 0, `\n${faults.join("\n")}`);
}

function isOutside(target: string | undefined, allowed: string[]): boolean {
  return target !== undefined && !allowed.some((prefix) => target.startsWith(prefix));
}

function isTestFile(file: string): boolean {
  return /(\.test|(^|[/-])(testing|fixture))\.ts$/.test(file);
}

function isStore(file: string): boolean {
  return /(^|\/)([a-z0-9-]+-)?store\.ts$/.test(file) || /^lib\/(events|server|commands)\//.test(file);
}

/** Returns the room of a file, such as "session" for lib/session/creation/create-session.ts. */
function roomOf(file: string): string {
  return file.split("/")[1] ?? "";
}

/**
 * Returns the number of a room's floor; undefined for a room that is on no floor. The last line of `floors` is the
 * lowest floor and has the number 1.
 */
function floorOf(room: string): number | undefined {
  const index = floors.findIndex((rooms) => rooms.includes(room));
  return index === -1 ? undefined : floors.length - index;
}

/**
 * Finds import cycles, each in the form "a.ts → b.ts → a.ts". If there are cycles, lists at least one. If several
 * cycles share files, may list only some of them.
 */
function findCycles(edges: Import[]): string[] {
  const targets = new Map<string, string[]>();
  for (const { file, target } of edges) {
    if (target !== undefined) targets.set(file, [...(targets.get(file) ?? []), target]);
  }
  const cycles: string[] = [];
  const done = new Set<string>();
  const walk = (file: string, path: string[]): void => {
    if (path.includes(file)) cycles.push([...path.slice(path.indexOf(file)), file].join(" → "));
    if (done.has(file) || path.includes(file)) return;
    for (const target of targets.get(file) ?? []) walk(target, [...path, file]);
    done.add(file);
  };
  for (const file of targets.keys()) walk(file, []);
  return cycles;
}
