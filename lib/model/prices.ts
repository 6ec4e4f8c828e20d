import { z } from "zod";
import type { ModelUsage } from "./usage.ts";

/** The price of a model in US dollars per million tokens. */
export type ModelPrice = { input: number; output: number; cachedInput: number };

const dollars = z.number().min(0).max(1_000_000);
const pricesSchema = z.record(
  z.string(),
  z
    .strictObject({ input: dollars, output: dollars, cachedInput: dollars.optional() })
    .transform(({ input, output, cachedInput = input }): ModelPrice => ({ input, output, cachedInput })),
);

/**
 * Reads the prices of models from JSON: `{ "<model id>": { "input", "output", "cachedInput"? } }`. Cached input without
 * its own price costs as much as other input.
 *
 * @throws Error whose message completes a sentence that begins with the name of the setting.
 */
export function readModelPrices(text: string): ReadonlyMap<string, ModelPrice> {
  const parsed = pricesSchema.safeParse(parseJson(text));
  if (parsed.success) return new Map(Object.entries(parsed.data));
  const path = parsed.error.issues[0]?.path.join(".") ?? "";
  throw new Error(
    `must be a JSON object of { "input", "output", "cachedInput" } in dollars per million tokens by model id${path && `; ${path} is not`}`,
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error("must be JSON");
  }
}

const MILLION = 1_000_000;

/** Computes the price of a model call in US dollars. Output tokens include reasoning tokens. */
export function priceCall(usage: ModelUsage, { input, output, cachedInput }: ModelPrice): number {
  const cached = Math.min(usage.cachedInputTokens, usage.inputTokens);
  return (
    ((usage.inputTokens - cached) * input + cached * cachedInput + usage.outputTokens * output) / MILLION
  );
}
