import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { contract } from "../../contract/contract.ts";
import { createDocumentAjv } from "../check-answer.ts";
import type { MediaObject, ParameterObject, ResponseObject } from "../types.ts";
import { buildDocument } from "./build-document.ts";

const document = buildDocument("https://sessions.test");

/** Rules to check in addition to the linter's strict set. */
const RULES = Object.fromEntries(
  [
    "no-invalid-media-type-examples",
    "no-invalid-schema-examples",
    "no-invalid-parameter-examples",
    "no-illogical-composition-keywords",
    "no-schema-type-mismatch",
    "component-name-unique",
    "operation-operationId-url-safe",
    "operation-singular-tag",
    "operation-tag-defined",
    "parameter-description",
    "path-http-verbs-order",
    "no-identical-paths",
    "no-ambiguous-paths",
    "no-unsafe-markdown",
    "no-duplicated-tag-names",
    "no-required-schema-properties-undefined",
  ].map((rule) => [rule, "error" as const]),
);

/** Violations that the test accepts, each with its reason. */
const EXCEPTIONS: { rule: string; at: RegExp; why: string }[] = [
  { rule: "info-license", at: /^#\/info$/, why: "no license has been chosen" },
  {
    rule: "operation-4xx-response",
    at: /~1api~1(?:health|ready|openapi\.json|mcp)\/get/,
    why: "the operation has no input that could be invalid",
  },
  { rule: "operation-2xx-response", at: /~1live\/get/, why: "an upgrade succeeds with 101" },
  {
    rule: "no-unused-components",
    at: /\/schemas\/Live(?:Client)?Frame$/,
    why: "x-websocket references these schemas, and the linter does not read it",
  },
];

describe("the OpenAPI document", () => {
  test("passes the linter's strict rules, except for the listed exceptions", async () => {
    const config = await createConfig({ extends: ["recommended-strict"], rules: RULES });
    const problems = await lintFromString({ source: JSON.stringify(document), config });
    const found = problems.map(({ ruleId, message, location }) => ({
      rule: ruleId,
      message,
      at: location[0]?.pointer ?? "",
    }));
    const isException = (problem: { rule: string; at: string }) =>
      EXCEPTIONS.some(({ rule, at }) => rule === problem.rule && at.test(problem.at));
    assert.deepEqual(
      found.filter((problem) => !isException(problem)),
      [],
    );
  });

  test("is deterministic", () => {
    assert.equal(JSON.stringify(buildDocument("https://sessions.test")), JSON.stringify(document));
  });

  test("has every operation of the contract at its path and method", () => {
    const described = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => `${method} ${path} ${operation?.operationId}`),
    );
    const expected = Object.entries(contract).map(
      ([name, { method, path }]) => `${method.toLowerCase()} ${path.replace(/:(\w+)/g, "{$1}")} ${name}`,
    );
    expected.push("get /api/sessions/{sessionId}/live openLive");
    assert.deepEqual(described.sort(), expected.sort());
  });

  test("describes every operation, every parameter and every field of the session creation", () => {
    const operations = Object.values(document.paths).flatMap((item) => Object.values(item));
    for (const operation of operations) {
      assert.ok(operation?.summary, operation?.operationId);
      for (const parameter of operation?.parameters ?? [])
        if (!("$ref" in parameter))
          assert.ok(parameter.description, `${operation?.operationId} ${parameter.name}`);
    }
    for (const name of ["CreateSession", "Callback", "ToolPolicy"])
      for (const [field, schema] of Object.entries(document.components.schemas[name]?.properties ?? {}))
        assert.ok(schema.description ?? schema.$ref, `${name}.${field}`);
  });

  test("has examples that are valid against their schemas", () => {
    const ajv = createDocumentAjv(document);
    let checked = 0;
    const check = (where: string, media: MediaObject) => {
      const values = media.examples
        ? Object.values(media.examples).map(({ value }) => value)
        : [media.example];
      for (const value of values) {
        const errors = ajv.explain(media.schema ?? {}, value);
        assert.deepEqual(errors, [], `${where}: ${JSON.stringify(value)}`);
        checked++;
      }
    };
    const checkResponse = (where: string, response: ResponseObject) => {
      for (const [type, media] of Object.entries(response.content ?? {}))
        if (type === "application/json") check(where, media);
    };
    for (const [path, item] of [...Object.entries(document.paths), ...Object.entries(document.webhooks)])
      for (const [method, operation] of Object.entries(item)) {
        const body = operation?.requestBody?.content["application/json"];
        if (body) check(`${method} ${path}`, body);
        for (const [status, response] of Object.entries(operation?.responses ?? {}))
          if (!("$ref" in response)) checkResponse(`${method} ${path} ${status}`, response);
        for (const parameter of (operation?.parameters ?? []) as ParameterObject[])
          if (parameter.example !== undefined)
            assert.deepEqual(ajv.explain(parameter.schema, parameter.example), [], parameter.name);
      }
    for (const [name, response] of Object.entries(document.components.responses))
      checkResponse(name, response);
    assert.ok(checked > 50);
  });

  test("names the schemas of responses instead of repeating them inline", () => {
    const inline = Object.values(document.paths)
      .flatMap((item) => Object.values(item))
      .flatMap((operation) => Object.values(operation?.responses ?? {}))
      .flatMap((response) => ("$ref" in response ? [] : Object.values(response.content ?? {})))
      .filter(({ schema }) => schema?.type === "object" && schema.properties !== undefined);
    // Only pages of lists have an inline schema. The schemas of their items are named.
    for (const { schema } of inline)
      assert.ok(schema?.properties?.data, JSON.stringify(schema).slice(0, 200));
  });
});
