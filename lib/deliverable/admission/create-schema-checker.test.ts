import assert from "node:assert/strict";
import { availableParallelism } from "node:os";
import { after, before, describe, test } from "node:test";
import { Worker } from "node:worker_threads";
import { createSchemaChecker, type SchemaChecker } from "./create-schema-checker.ts";
import { hostileSchemas, tooMuch } from "./testing/hostile-schemas.ts";
import { ordinarySchemas } from "./testing/ordinary-schemas.ts";

describe("typical schemas of callers", () => {
  let checker: SchemaChecker;
  before(() => {
    checker = createSchemaChecker({ cpuMs: 30_000 });
  });
  after(() => checker.close());

  for (const { name, schema, fits = [], breaks = [] } of ordinarySchemas)
    test(`${name}: admitted, and valid and invalid values are distinguished`, async () => {
      const before = JSON.stringify(schema);
      assert.deepEqual(await checker.admitSchema(schema), { ok: true });
      for (const value of fits) assert.deepEqual(await checker.validateValue(schema, value), { valid: true });
      for (const [value, path] of breaks) {
        const verdict = await checker.validateValue(schema, value);
        assert.ok(!verdict.valid && "violations" in verdict, JSON.stringify(verdict));
        assert.ok(
          verdict.violations.some((violation) => violation.path === path),
          JSON.stringify(verdict),
        );
      }
      assert.equal(JSON.stringify(schema), before, "the caller's schema is not modified");
    });

  test("exactly 64 KiB are admitted", async () => {
    const schema = { type: "object", description: "x".repeat(65_536 - 34) };
    assert.equal(JSON.stringify(schema).length, 65_536);
    assert.deepEqual(await checker.admitSchema(schema), { ok: true });
  });

  test("a violation has the place and the requirement of the schema", async () => {
    const schema = {
      type: "object",
      additionalProperties: false,
      required: ["name"],
      properties: {
        name: { type: "string", minLength: 2 },
        size: { enum: ["S", "M"] },
        version: { const: 1 },
      },
    };
    assert.deepEqual(await checker.validateValue(schema, { name: "a", size: "L", version: 2, extra: 1 }), {
      valid: false,
      violations: [
        { path: "", message: 'must not have the property "extra"' },
        { path: "/name", message: "must NOT have fewer than 2 characters" },
        { path: "/size", message: 'must be one of ["S","M"]' },
        { path: "/version", message: "must be 1" },
      ],
    });
  });

  test("a missing property with an empty name is noticed, also inside of combinations", async () => {
    const required = { required: [""] };
    const dependent = { required: ["a"], dependentRequired: { a: [""] } };
    for (const missed of [required, dependent]) {
      const schemas: [Record<string, unknown>, boolean][] = [
        [missed, false],
        [{ not: missed }, true],
        [{ anyOf: [missed, { required: ["z"] }] }, false],
        [{ if: missed, else: { required: ["z"] } }, false],
      ];
      for (const [schema, valid] of schemas)
        assert.equal(
          (await checker.validateValue({ type: "object", ...schema }, { a: 1 })).valid,
          valid,
          JSON.stringify(schema),
        );
    }
  });

  test("at most fifty violations are reported", async () => {
    const schema = { type: "object", additionalProperties: { type: "string" } };
    const value = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`a${index}`, index]));
    const verdict = await checker.validateValue(schema, value);
    assert.ok(!verdict.valid && "violations" in verdict);
    assert.equal(verdict.violations.length, 50);
  });

  test("a value that is not JSON is an error", async () => {
    const verdict = await checker.validateValue({ type: "object" }, undefined);
    assert.ok(!verdict.valid && "error" in verdict && /no JSON/.test(verdict.error));
  });
});

describe("numbers that JavaScript cannot hold", () => {
  const schema = {
    type: "object",
    properties: {
      id: { type: "integer" },
      more: { type: "object", additionalProperties: { type: "number" } },
    },
    required: ["id"],
    additionalProperties: false,
  };
  let checker: SchemaChecker;
  before(() => {
    checker = createSchemaChecker();
  });
  after(() => checker.close());

  test("are violations with the place in the value and in the model's own JSON", async () => {
    const answer = '{"id":9007199254740993,"more":[{"key":"a","value":1.5},{"key":"b","value":-1e400}]}';
    const judged = await checker.checkAnswer(schema, answer);
    assert.ok(judged.kind === "breaks", JSON.stringify(judged));
    assert.deepEqual(judged.violations.slice(0, 2), [
      {
        path: "/id",
        rawPath: "/id",
        message:
          "must be a number that JSON readers keep exactly: 9007199254740993 would become 9007199254740992",
      },
      {
        path: "/more/b",
        rawPath: "/more/1/value",
        message: "must be a number that JSON readers keep exactly: -1e400 is too large",
      },
    ]);
  });

  test("large numbers that JavaScript represents exactly are not violations", async () => {
    for (const id of ["9007199254740992", "-9007199254740991", "1e23", "100000000000000000000", "12.0"]) {
      const judged = await checker.checkAnswer(schema, `{"id":${id},"more":null}`);
      assert.deepEqual(judged, { kind: "fits", value: { id: Number(id) } }, id);
    }
  });

  test("text that is not JSON is unreadable", async () => {
    const judged = await checker.checkAnswer(schema, '{"id":');
    assert.deepEqual(judged, { kind: "unreadable", reason: "not JSON" });
  });
});

describe("several callers", () => {
  const wide = (name: string, count: number) => ({
    type: "object",
    properties: Object.fromEntries(
      Array.from({ length: count }, (_, index) => [`${name}_${index}`, { type: "string", minLength: 1 }]),
    ),
  });

  test("take turns on one thread", async () => {
    const checker = createSchemaChecker({ threadsMax: 1 });
    const order: string[] = [];
    const admit = async (name: string, ownerId: string) => {
      const verdict = await checker.admitSchema(wide(name, 20), ownerId);
      order.push(verdict.ok ? name : verdict.error);
    };
    await Promise.all([
      ...["a0", "a1", "a2", "a3"].map((name) => admit(name, "a")),
      ...["b0", "b1"].map((name) => admit(name, "b")),
    ]);
    await checker.close();
    assert.deepEqual(order, ["a0", "a1", "b0", "a2", "b1", "a3"]);
  });

  test("a heavy caller leaves a thread to the others", async () => {
    const checker = createSchemaChecker({ threadsMax: 2 });
    const order: string[] = [];
    const admit = async (name: string, count: number, ownerId: string) => {
      assert.deepEqual(await checker.admitSchema(wide(name, count), ownerId), { ok: true });
      order.push(ownerId);
    };
    await Promise.all([
      ...Array.from({ length: 20 }, (_, index) => admit(`w${index}`, 900, "heavy")),
      admit("small", 2, "other"),
    ]);
    await checker.close();
    assert.ok(order.indexOf("other") < 20, order.join());
  });

  test("a caller's schemas beyond the queue limit are rejected; other callers' schemas are not", async () => {
    const checker = createSchemaChecker({ threadsMax: 1 });
    const all = Array.from({ length: 34 }, (_, index) => checker.admitSchema(wide(`q${index}`, 2), "heavy"));
    const other = checker.admitSchema(wide("other", 2), "other");
    const verdicts = await Promise.all(all);
    assert.deepEqual(
      verdicts.slice(0, 33).filter(({ ok }) => !ok),
      [],
    );
    assert.deepEqual(verdicts[33], {
      ok: false,
      isBusy: true,
      error: "outputSchema: 32 schemas of this API key are waiting to be checked; try again in a few seconds",
    });
    assert.deepEqual(await other, { ok: true });
    await checker.close();
  });

  test("the deadline counts CPU time: other load on the machine fails no schema", async () => {
    const burn = "const { workerData } = require('node:worker_threads'); while (workerData[0] === 0);";
    const flag = new Int32Array(new SharedArrayBuffer(4));
    const burners = Array.from(
      { length: 4 * availableParallelism() },
      () => new Worker(burn, { eval: true, workerData: flag }),
    );
    const checker = createSchemaChecker({ cpuMs: 1_500 });
    const verdict = await checker.admitSchema(wide("busy", 300));
    flag[0] = 1;
    await Promise.all([checker.close(), ...burners.map((burner) => burner.terminate())]);
    assert.deepEqual(verdict, { ok: true });
  });
});

describe("the drafts", () => {
  let checker: SchemaChecker;
  before(() => {
    checker = createSchemaChecker({ cpuMs: 30_000 });
  });
  after(() => checker.close());
  const old = ["draft-04", "draft-06", "draft-07"].map((name) => `http://json-schema.org/${name}/schema#`);
  const isValid = async (property: unknown, a: unknown, more: object = {}) => {
    const schema = { type: "object", properties: { a: property }, ...more };
    assert.deepEqual(await checker.admitSchema(schema), { ok: true });
    return (await checker.validateValue(schema, { a })).valid;
  };

  test("up to draft-07 all siblings of $ref are ignored, including type", async () => {
    const definitions = { text: { type: "string" } };
    const property = { $ref: "#/definitions/text", type: "number", minLength: 5 };
    for (const $schema of old) {
      const more = { $schema, definitions };
      assert.deepEqual([await isValid(property, "x", more), await isValid(property, 1, more)], [true, false]);
    }
    assert.equal(await isValid(property, "long enough", { definitions }), false);
  });

  test("keywords are ignored in drafts that do not know them", async () => {
    const [draft04, draft06, draft07] = old;
    // biome-ignore lint/suspicious/noThenProperty: the keyword.
    const condition = { if: {}, then: { type: "string" } };
    assert.equal(await isValid(condition, 1, { $schema: draft04 }), true);
    assert.equal(await isValid(condition, 1, { $schema: draft06 }), true);
    assert.equal(await isValid(condition, 1, { $schema: draft07 }), false);
    for (const keywords of [{ const: 2 }, { contains: false }, { propertyNames: false }])
      for (const value of [1, [1], { b: 1 }])
        assert.equal(await isValid(keywords, value, { $schema: draft04 }), true);
    assert.equal(await isValid({ const: 2 }, 1, { $schema: draft06 }), false);
  });

  test("multipleOf compares decimal digits", async () => {
    const cases: [divisor: number, value: number, isMultiple: boolean][] = [
      [0.01, 4.35, true],
      [0.01, 4.355, false],
      [7, 1e17, false],
      [10, 1e23, true],
      [0.1, 123_456_789_012.3, true],
      [0.3, 1e15 + 0.125, false],
      [3, -9, true],
      [1e-9, 1.5, true],
      [7, 0, true],
    ];
    for (const [multipleOf, value, isMultiple] of cases)
      assert.equal(await isValid({ multipleOf }, value), isMultiple, `${value} / ${multipleOf}`);
  });

  test("only formats of JSON Schema are asserted", async () => {
    for (const format of ["byte", "int32", "int64", "binary", "password"]) {
      assert.equal(await isValid({ format }, "not base64!"), true);
      assert.equal(await isValid({ format }, 1.5e12), true);
    }
    const format = "date-time";
    assert.equal(await isValid({ format }, "2024-02-29T12:00:00Z"), true);
    for (const text of ["2024-02-29 12:00:00Z", "2024-02-29\t12:00:00Z", "2024-02-30T12:00:00Z"])
      assert.equal(await isValid({ format }, text), false, text);
  });
});

describe("the response format of a schema", () => {
  const schema = {
    type: "object",
    properties: { size: { type: "integer", minimum: 3 } },
    required: ["size"],
    additionalProperties: true,
  };
  const checkers: SchemaChecker[] = [];
  const createChecker = (profile: "openai" | "none") => {
    const checker = createSchemaChecker({ profile });
    checkers.push(checker);
    return checker;
  };
  after(() => Promise.all(checkers.map((checker) => checker.close())));

  test("is strict if the provider has a strict mode; answers are decoded before they are validated", async () => {
    const checker = createChecker("openai");
    const format = await checker.formatOf(schema);
    assert.deepEqual([format.isStrict, format.schema.additionalProperties], [true, false]);
    const fits = await checker.checkAnswer(schema, JSON.stringify({ size: 3, additional: '{"a":1}' }));
    assert.deepEqual(fits, { kind: "fits", value: { a: 1, size: 3 } });
    assert.deepEqual(await checker.checkAnswer(schema, JSON.stringify({ size: 2, additional: null })), {
      kind: "breaks",
      violations: [{ path: "/size", rawPath: "/size", message: "must be >= 3" }],
    });
    const outside = await checker.checkAnswer(schema, JSON.stringify({ size: "3", additional: null }));
    assert.deepEqual([outside.kind, "path" in outside && outside.path], ["outside", "/size"]);
  });

  test("is the schema itself if the provider has no limits", async () => {
    const checker = createChecker("none");
    assert.deepEqual(await checker.formatOf(schema), { schema, isStrict: false });
    assert.deepEqual(await checker.checkAnswer(schema, JSON.stringify({ size: 3, a: 1 })), {
      kind: "fits",
      value: { size: 3, a: 1 },
    });
  });
});

describe("hostile schemas", () => {
  let patient: SchemaChecker;
  let strict: SchemaChecker;
  let ticker: NodeJS.Timeout;
  let longestTurnMs = 0;
  before(() => {
    patient = createSchemaChecker({ cpuMs: 30_000 });
    strict = createSchemaChecker({ cpuMs: 400 });
    // Measures this thread's CPU time, because elapsed time on a busy machine includes waiting for the CPU.
    let lastTick = process.threadCpuUsage();
    ticker = setInterval(() => {
      const { user, system } = process.threadCpuUsage(lastTick);
      longestTurnMs = Math.max(longestTurnMs, (user + system) / 1_000);
      lastTick = process.threadCpuUsage();
    }, 10);
  });
  after(async () => {
    clearInterval(ticker);
    await Promise.all([patient.close(), strict.close()]);
  });

  for (const hostile of hostileSchemas) {
    const { name, schema } = hostile;
    if ("refused" in hostile)
      test(`${name}: refused, with the flaw and its place`, async () => {
        const admitted = await (hostile.refused === tooMuch ? strict : patient).admitSchema(schema);
        assert.ok(!admitted.ok, "it was admitted");
        assert.match(admitted.error, hostile.refused);
      });
    else if (hostile.ends instanceof RegExp)
      test(`${name}: admitted, and checking a value ends with a reason`, async () => {
        assert.deepEqual(await patient.admitSchema(schema), { ok: true });
        const verdict = await (hostile.ends === tooMuch ? strict : patient).validateValue(
          schema,
          hostile.value,
        );
        assert.ok(!verdict.valid && "error" in verdict, JSON.stringify(verdict));
        assert.match(verdict.error, hostile.ends as RegExp);
      });
    else
      test(`${name}: harmless, and a value is ${hostile.ends}`, async () => {
        assert.deepEqual(await patient.admitSchema(schema), { ok: true });
        const verdict = await patient.validateValue(schema, hostile.value);
        assert.equal(verdict.valid ? "valid" : "violations" in verdict && "invalid", hostile.ends);
      });
  }

  test("jobs queued behind a hostile one are answered after it", async () => {
    const checker = createSchemaChecker({ cpuMs: 1_500 });
    const pattern = { type: "object", properties: { a: { pattern: "^(a+)+$" } } };
    const verdicts = await Promise.all([
      checker.validateValue(pattern, { a: `${"a".repeat(60)}!` }),
      checker.validateValue({ type: "object" }, {}),
      checker.admitSchema({ type: "object" }),
    ]);
    await checker.close();
    assert.ok("error" in verdicts[0] && tooMuch.test(verdicts[0].error));
    assert.deepEqual(verdicts.slice(1), [{ valid: true }, { ok: true }]);
  });

  test("a job that exceeds the memory limit is ended, and the next one runs", async () => {
    const checker = createSchemaChecker({ cpuMs: 60_000, memoryMb: 24 });
    const leaf = { type: "object", properties: { a: { type: "array", items: { type: "string" } } } };
    const verdict = await checker.validateValue(leaf, {
      a: Array.from({ length: 500_000 }, (_, index) => index),
    });
    assert.ok(
      !verdict.valid && "error" in verdict && /more memory/.test(verdict.error),
      JSON.stringify(verdict).slice(0, 300),
    );
    assert.deepEqual(await checker.validateValue(leaf, {}), { valid: true });
    await checker.close();
  });

  test("the event loop was never blocked", () => {
    assert.ok(
      longestTurnMs > 0 && longestTurnMs < 1_000,
      `it was blocked for ${Math.round(longestTurnMs)} ms`,
    );
  });
});

test("a closed checker rejects running and new calls", async () => {
  const checker = createSchemaChecker();
  const running = checker.admitSchema({ type: "object" });
  await checker.close();
  await assert.rejects(running, /closed|ended/);
  await assert.rejects(checker.admitSchema({ type: "object" }), /closed/);
});
