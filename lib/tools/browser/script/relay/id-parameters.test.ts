import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { BROWSER_COMMANDS, TARGET_COMMANDS } from "./devtools-commands.ts";
import { admitCommand, type RelayScope } from "./relay-rules.ts";

/** The parameters of each DevTools command that Playwright's copy of the protocol describes, by `Domain.command`. */
function readProtocol(): Map<string, string[]> {
  const folder = dirname(createRequire(import.meta.url).resolve("playwright-core/package.json"));
  const source = readFileSync(join(folder, "types/protocol.d.ts"), "utf8");
  const parameters = new Map<string, string[]>();
  for (const [, domain, body = ""] of source.matchAll(
    /^ {2}export namespace (\w+) \{\n([\s\S]*?)\n {2}\}\n/gm,
  ))
    for (const [, command, fields = ""] of body.matchAll(
      /export type (\w+)Parameters = \{\n?([\s\S]*?)\n? {4}\}/g,
    ))
      parameters.set(
        `${domain}.${command}`,
        [...fields.matchAll(/^ {6}(\w+)\??: /gm)].map(([, name = ""]) => name),
      );
  return parameters;
}

const protocol = readProtocol();
const commands: [scope: RelayScope, method: string][] = [
  ...Object.keys(BROWSER_COMMANDS).map((method): [RelayScope, string] => ["browser", method]),
  ...Object.keys(TARGET_COMMANDS).map((method): [RelayScope, string] => ["target", method]),
];
/** Whether a parameter names something of the browser. The id of a time zone does not. */
const isIdName = (name: string) =>
  /(Ids?|ID|^handle|^identifier|^stream)$/.test(name) && name !== "timezoneId";
const idParameters = commands.flatMap(([scope, method]) =>
  (protocol.get(method) ?? []).filter(isIdName).map((name) => [scope, method, name] as const),
);
const judge = (scope: RelayScope, method: string, params: Record<string, unknown>) =>
  admitCommand(scope, method, params, () => false);

test("every allowed command is a command of the protocol, and so are its parameters", () => {
  for (const [scope, method] of commands) {
    const rules = scope === "browser" ? BROWSER_COMMANDS[method]?.params : TARGET_COMMANDS[method];
    const known = protocol.get(method) ?? assert.fail(method);
    for (const name of Object.keys(rules ?? {})) assert.ok(known.includes(name), `${method}: ${name}`);
  }
});

test("no id parameter of the protocol passes with an id that the script was not shown", () => {
  assert.ok(idParameters.length > 30, `${idParameters.length}`);
  for (const [scope, method, name] of idParameters)
    for (const id of ["1", 1, -1, "1.1.1", ["1"], { id: 1 }, null]) {
      const judged = judge(scope, method, { [name]: id });
      assert.ok(
        judged.verdict === "refuse" || !(name in judged.params),
        `${method} passes ${name}: ${JSON.stringify(id)}`,
      );
    }
});

test("an id is refused or dropped too if it comes with another id that the script was shown", () => {
  for (const [scope, method, name] of idParameters)
    for (const [, other, own] of idParameters) {
      if (other !== method || own === name) continue;
      const params = { [own]: typeof own === "string" && /context/i.test(own) ? 1 : "1.1.1", [name]: 666 };
      const judged = admitCommand(scope, method, params, (_kind, id) => id !== 666);
      assert.ok(judged.verdict === "refuse" || !(name in judged.params), `${method}: ${name} with ${own}`);
    }
});

test("parameters that are not listed are dropped, also in nested objects", () => {
  const params = {
    functionDeclaration: "() => 1",
    arguments: [{ value: { objectId: "data of the page" }, deepSerializedValue: 1 }],
    serializationOptions: { serialization: "deep" },
    throwOnSideEffect: true,
  };
  assert.deepEqual(judge("target", "Runtime.callFunctionOn", params), {
    verdict: "forward",
    params: {
      functionDeclaration: "() => 1",
      arguments: [{ value: { objectId: "data of the page" } }],
    },
  });
  const script = { source: "1", includeCommandLineAPI: true };
  assert.deepEqual(judge("target", "Page.addScriptToEvaluateOnNewDocument", script), {
    verdict: "forward",
    params: { source: "1" },
  });
  assert.deepEqual(judge("target", "Target.setAutoAttach", { autoAttach: true, flatten: false }), {
    verdict: "forward",
    params: { autoAttach: true, flatten: true },
  });
});

test("an id in an argument of a function is checked", () => {
  const params = { functionDeclaration: "() => 1", arguments: [{ value: 1 }, { objectId: "1.2.3" }] };
  assert.deepEqual(judge("target", "Runtime.callFunctionOn", params), {
    verdict: "refuse",
    reason: "No such object.",
  });
});

test("a parameter of a wrong type is refused with its name", () => {
  const refusals: [method: string, params: Record<string, unknown>, reason: string][] = [
    ["Runtime.evaluate", { expression: { toString: 1 } }, "Runtime.evaluate: expression must be a string."],
    ["Runtime.evaluate", { contextId: "1" }, "Runtime.evaluate: contextId must be a number."],
    ["Runtime.callFunctionOn", { arguments: {} }, "Runtime.callFunctionOn: arguments must be a list."],
    [
      "Runtime.callFunctionOn",
      { arguments: [{ objectId: 1 }] },
      "Runtime.callFunctionOn: arguments.objectId must be a string.",
    ],
    ["Fetch.enable", { patterns: [null] }, "Fetch.enable: patterns must be an object."],
    [
      "Network.setExtraHTTPHeaders",
      { headers: { a: 1 } },
      "Network.setExtraHTTPHeaders: headers must be a string.",
    ],
  ];
  for (const [method, params, reason] of refusals)
    assert.deepEqual(judge("target", method, params), { verdict: "refuse", reason });
});

test("a header may have a name that objects have already", () => {
  const headers = JSON.parse('{ "__proto__": "a", "constructor": "b" }');
  const judged = judge("target", "Network.setExtraHTTPHeaders", { headers });
  assert.ok(judged.verdict === "forward");
  assert.equal(JSON.stringify(judged.params), '{"headers":{"__proto__":"a","constructor":"b"}}');
});
