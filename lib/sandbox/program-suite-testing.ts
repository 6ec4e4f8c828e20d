import assert from "node:assert/strict";
import { it } from "node:test";
import { setTimeout } from "node:timers/promises";
import { bytes, options, readText, refused } from "./sandbox-fixture.ts";
import type { Program, Workspace } from "./sandbox-service.ts";

const files = (texts: Record<string, string>) =>
  Object.entries(texts).map(([path, text]) => ({ path, bytes: bytes(text) }));

/** Creates a Node program with one script and, optionally, other files. */
const node = (script: string, args: string[] = [], others: Record<string, string> = {}): Program => ({
  runtime: "node",
  script: "scripts/main.mjs",
  args,
  files: files({ "scripts/main.mjs": script, ...others }),
});

async function waitForFile(workspace: Workspace, path: string): Promise<void> {
  const isThere = async () =>
    (await workspace.list(".", { recursive: false, limit: 100 })).some((entry) => entry.path === path);
  while (!(await isThere())) await setTimeout(20);
}

/** Properties in which sandboxes differ. */
type Traits = {
  /** Whether the kernel keeps a program from changing its own files. */
  isReadOnly: boolean;
  /** Whether programs have no network and see only the system's folders of the host. */
  isConfined: boolean;
};

/** Defines the tests of what every sandbox guarantees for programs. `open` returns the workspace of a new session. */
export function programSuite(open: () => Promise<Workspace>, { isReadOnly, isConfined }: Traits): void {
  it("runs a script and its own modules in the workspace's folder, with an argument array", async () => {
    const workspace = await open();
    await workspace.writeFile("page.html", bytes("<h1>Hello</h1>"));
    const script = `import { readFileSync } from "node:fs";
      import { shout } from "./lib/shout.mjs";
      console.log(shout(readFileSync("page.html", "utf8")), JSON.stringify(process.argv.slice(2)));
      console.error("said on standard error");
      process.exitCode = 3;`;
    const args = ["a b", "$(touch made)", "; touch made", "*", "'\"", "-e"];
    const shout = "export const shout = (text) => text.toUpperCase();";
    const result = await workspace.runProgram(
      node(script, args, { "scripts/lib/shout.mjs": shout }),
      options(),
    );
    assert.match(result.output, /<H1>HELLO<\/H1> /);
    assert.ok(result.output.includes(JSON.stringify(args)), result.output);
    assert.match(result.output, /said on standard error/);
    assert.equal(result.exitCode, 3);
    await assert.rejects(workspace.readFile("made", 1), refused(/does not exist/));
  });

  it("does not pass arguments to the runtime as options", async () => {
    const workspace = await open();
    await workspace.writeFile("evil.cjs", bytes("console.log('EVIL');"));
    const script = "console.log(JSON.stringify([process.argv.slice(2), process.execArgv]));";
    for (const args of [
      ["-e", "console.log('EVIL')"],
      ["--require", "./evil.cjs"],
      ["--import=./evil.cjs"],
      ["--", "evil.cjs"],
      ["--eval=console.log('EVIL')"],
      ["--run", "evil"],
    ]) {
      const { output, exitCode } = await workspace.runProgram(node(script, args), options());
      assert.deepEqual([output.trim(), exitCode], [JSON.stringify([args, []]), 0]);
    }
  });

  it("loads nothing from the workspace: no module, no package.json, no option, no runtime", async () => {
    const workspace = await open();
    const evil = bytes("console.log('EVIL'); module.exports = 'EVIL';");
    for (const path of [
      "node_modules/evil/index.js",
      ".node_modules/evil/index.js",
      ".node_libraries/evil/index.js",
      "scripts/main.mjs",
      "scripts/helper.mjs",
      "main.mjs",
    ])
      await workspace.writeFile(path, evil);
    const manifest = { type: "commonjs", imports: { "#evil": "./node_modules/evil/index.js" } };
    await workspace.writeFile("package.json", bytes(JSON.stringify(manifest)));
    await workspace.writeFile(".env", bytes("NODE_OPTIONS=--require=/workspace/main.mjs"));
    await workspace.writeFile("node", bytes("#!/bin/sh\necho EVIL\n"));
    await workspace.writeFile(".bashrc", bytes("echo EVIL"));
    const script = `import { createRequire } from "node:module";
      const require = createRequire(import.meta.url);
      const tries = [() => import("evil"), () => require("evil"), () => import("#evil"), () => import("./helper.mjs")];
      for (const attempt of tries)
        console.log(await Promise.resolve().then(attempt).then(() => "loaded", (error) => error.code));
      console.log(process.env.NODE_OPTIONS, process.env.NODE_PATH, process.env.HOME === process.cwd());`;
    const { output } = await workspace.runProgram(node(script), options());
    assert.deepEqual(output.trim().split("\n"), [
      "ERR_MODULE_NOT_FOUND",
      "MODULE_NOT_FOUND",
      "ERR_PACKAGE_IMPORT_NOT_DEFINED",
      "ERR_MODULE_NOT_FOUND",
      "undefined undefined false",
    ]);
  });

  it("gives each run its own files, even if an earlier run changed its copies", async () => {
    const workspace = await open();
    const script = `import { readFileSync, writeFileSync } from "node:fs";
      import { fileURLToPath } from "node:url";
      const own = fileURLToPath(import.meta.url);
      console.log(readFileSync(own, "utf8").startsWith("import") ? "intact" : "changed");
      try { writeFileSync(own, "console.log('EVIL')"); console.log("written"); } catch (error) { console.log(error.code); }
      try { writeFileSync(own.replace("main", "other"), "x"); console.log("made"); } catch (error) { console.log(error.code); }`;
    for (let run = 0; run < 2; run++) {
      const { output } = await workspace.runProgram(node(script), options());
      assert.match(output, /^intact\n/);
      if (isReadOnly) assert.equal(output, "intact\nEROFS\nEROFS\n");
    }
  });

  it("runs Bash scripts without a profile, and says which runtime is missing", async () => {
    const workspace = await open();
    for (const name of [".bashrc", ".bash_profile", ".profile"])
      await workspace.writeFile(name, bytes("echo EVIL"));
    const bash: Program = {
      runtime: "bash",
      script: "scripts/count.sh",
      args: ["-c", "echo EVIL"],
      files: files({ "scripts/count.sh": 'echo "$# $1 $2"; printenv BASH_ENV || echo none' }),
    };
    assert.equal((await workspace.runProgram(bash, options())).output, "2 -c echo EVIL\nnone\n");
    const script = "import os, sys; print(sys.argv[1:], 'here' in os.listdir('.'))";
    await workspace.writeFile("here", bytes(""));
    await workspace.writeFile("os.py", bytes("print('EVIL')"));
    const python: Program = {
      runtime: "python3",
      script: "scripts/count.py",
      args: ["-c", "print(1)"],
      files: files({ "scripts/count.py": script }),
    };
    const result = await workspace.runProgram(python, options()).catch((error: unknown) => error);
    if (result instanceof Error) assert.match(result.message, /^python3 is not installed in the sandbox$/);
    else assert.equal((result as { output: string }).output, "['-c', 'print(1)'] True\n");
  });

  it("kills a script at its deadline, at a stop and when it floods, and keeps the files that it wrote", async () => {
    const workspace = await open();
    const waits = `import { writeFileSync } from "node:fs";
      writeFileSync(process.argv[2], "yes"); console.log("begun"); setInterval(() => {}, 1000);`;
    const late = await workspace.runProgram(node(waits, ["begun"]), options(2_500));
    assert.deepEqual([late.timedOut, late.exitCode], [true, null]);
    assert.match(late.output, /ended at its deadline of 2500 ms/);
    assert.equal(await readText(workspace, "begun"), "yes");
    const stop = new AbortController();
    const program = node(waits, ["begun again"]);
    const stopped = workspace.runProgram(program, { timeoutMs: 20_000, signal: stop.signal });
    await waitForFile(workspace, "begun again");
    stop.abort();
    assert.match((await stopped).output, /ended: the turn was stopped/);
    const flood = `import { writeSync } from "node:fs";
      for (;;) try { writeSync(1, "x".repeat(65536)); } catch {}`;
    const flooded = await workspace.runProgram(node(flood), options());
    assert.match(flooded.output.slice(-200), /more than \d+ bytes of output/);
    assert.equal(flooded.truncated, true);
  });

  it("accepts the largest number and size of files that a skill may have", async () => {
    const workspace = await open();
    const others = Object.fromEntries(
      Array.from({ length: 63 }, (_, index) => [`assets/${index}/data.txt`, "x".repeat(1_400)]),
    );
    const script = `import { readFileSync } from "node:fs";
      const own = new URL("../assets/", import.meta.url);
      const sizes = Array.from({ length: 63 }, (_, index) => readFileSync(new URL(index + "/data.txt", own)).length);
      console.log(sizes.reduce((sum, size) => sum + size));`;
    const { output } = await workspace.runProgram(node(script, [], others), options());
    assert.equal(output, `${63 * 1_400}\n`);
    const large = { "assets/large.txt": "x".repeat(250_000), "assets/larger.txt": "y".repeat(260_000) };
    const sum = `import { readFileSync } from "node:fs";
      console.log(["large", "larger"].map((name) => readFileSync(new URL("../assets/" + name + ".txt", import.meta.url)).length).join());`;
    assert.equal((await workspace.runProgram(node(sum, [], large), options())).output, "250000,260000\n");
  });

  it("refuses files whose paths lead out of the program's folder", async () => {
    const workspace = await open();
    for (const path of ["../main.mjs", "/etc/main.mjs", "a\0b"])
      await assert.rejects(
        workspace.runProgram({ ...node("1"), files: files({ [path]: "1" }) }, options()),
        refused(/^path: /),
      );
  });

  if (isConfined)
    it("has no network, cannot see the host, and cannot write to the system's folders", async () => {
      const workspace = await open();
      const script = `import { existsSync, writeFileSync } from "node:fs";
        import { networkInterfaces } from "node:os";
        console.log(Object.keys(networkInterfaces()).filter((name) => name !== "lo").length, existsSync("/etc/shadow"));
        try { writeFileSync("/usr/probe", ""); console.log("written"); } catch (error) { console.log(error.code); }
        console.log(Object.keys(process.env).sort().join(" "));`;
      const { output } = await workspace.runProgram(node(script), options());
      assert.match(
        output,
        /^0 false\n(EROFS|EACCES)\nHOME LANG( OLDPWD)? PATH PWD( SHLVL)? TERM TMPDIR( _)?\n$/,
      );
    });
}
