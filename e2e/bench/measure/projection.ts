import { profiles } from "#lib/projection/profile/profile.ts";
import { projectSchema } from "#lib/projection/project-schema.ts";
import { collectPlaces, type SchemaObject } from "#lib/projection/schema/walk-schema.ts";
import { median, medianRatio } from "../statistics.ts";
import type { Measurement, Row } from "../types.ts";

const ROUNDS = 25;

/** Creates a schema of about `kib` KiB with the keywords that schemas usually have. */
function createSchema(kib: number): string {
  const properties: Record<string, unknown> = {};
  const schema = {
    type: "object",
    properties,
    $defs: {
      money: {
        type: "object",
        properties: { amount: { type: "number" }, currency: { enum: ["EUR", "USD"] } },
      },
    },
  };
  let bytes = 0;
  for (let index = 0; bytes < kib * 1024 - 400; index++) {
    const part = {
      type: "object",
      description: `Part ${index} of the whole`,
      required: ["id", "price"],
      properties: {
        id: { type: "string", minLength: 3, pattern: "^[a-z]+$" },
        price: { $ref: "#/$defs/money" },
        tags: { type: "array", items: { type: "string" }, maxItems: 5 },
        labels: { type: "object", additionalProperties: { type: "string" } },
        size: { oneOf: [{ type: "null" }, { type: "integer", minimum: 1 }] },
      },
    };
    properties[`part_${index}`] = part;
    bytes += JSON.stringify(part).length + 12;
  }
  return JSON.stringify(schema);
}

const timed = (work: () => unknown): number => {
  const startedAt = performance.now();
  work();
  return performance.now() - startedAt;
};

const projectText = (text: string): number => {
  const schema: SchemaObject = JSON.parse(text);
  return timed(() => projectSchema(schema, profiles.openai));
};

/**
 * Measures how long it takes to project a schema to the keywords that a provider supports, in seconds and relative to
 * parsing and walking the same schema. Also measures whether this time grows linearly with the size of the schema.
 */
async function measureProjection(): Promise<Row[]> {
  const [small, middle, large] = [16, 32, 64].map(createSchema);
  if (small === undefined || middle === undefined || large === undefined) return [];
  for (let round = 0; round < ROUNDS; round++) projectText(large);
  const times = {
    small: [] as number[],
    middle: [] as number[],
    large: [] as number[],
    read: [] as number[],
  };
  for (let round = 0; round < ROUNDS; round++) {
    times.small.push(projectText(small));
    times.middle.push(projectText(middle));
    times.large.push(projectText(large));
    times.read.push(timed(() => collectPlaces(JSON.parse(large))));
  }
  const pairs = (one: number[], other: number[]) =>
    one.map((value, index) => [value, other[index] ?? value] as const);
  const [smallMs, middleMs, largeMs, readMs] = [times.small, times.middle, times.large, times.read].map(
    median,
  );
  const behind = {
    smallMs: smallMs ?? 0,
    middleMs: middleMs ?? 0,
    largeMs: largeMs ?? 0,
    readMs: readMs ?? 0,
  };
  return [
    {
      what: "projecting a schema of 64 KiB",
      value: behind.largeMs / 1000,
      unit: "s",
      target: { atMost: 0.05 },
      behind,
    },
    {
      what: "projecting a schema of 64 KiB vs parsing and walking it",
      value: medianRatio(pairs(times.large, times.read)),
      unit: "×",
      behind,
    },
    {
      what: "projecting 64 KiB vs 16 KiB (linear: 4)",
      // Compares the shortest times, because garbage collection does not slow them down.
      value: Math.min(...times.large) / Math.min(...times.small),
      unit: "×",
      target: { atMost: 6 },
      behind,
    },
  ];
}

export const projectionMeasurement: Measurement = {
  name: "projection",
  seconds: 5,
  measure: measureProjection,
};
