import { createReadStream } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { listDefinitions } from "./list-definitions.ts";

/**
 * A schema and the values to test it with, or a text that is not JSON. `source` is the path of the file; for a line of
 * a `.jsonl` or `.ndjson` file, it ends with `:` and the number of the line.
 */
export type Input =
  | { source: string; schema: unknown; values: readonly unknown[] | undefined }
  | { source: string; unreadable: string };

/**
 * Reads schemas one at a time. A `.jsonl` or `.ndjson` file contains a schema on each line, and any other file contains
 * one schema. The path of a folder means all `.json` files below it. In place of a schema, a file or a line may contain
 * `{ "schema": …, "values": […] }`.
 *
 * @param hasDefinitions whether each definition that is an object schema is read as a schema of its own, too.
 */
export async function* readInputs(paths: readonly string[], hasDefinitions = false): AsyncGenerator<Input> {
  for await (const input of readFiles(paths)) {
    yield input;
    if (!hasDefinitions || "unreadable" in input) continue;
    for (const { name, schema } of listDefinitions(input.schema))
      yield { source: `${input.source}#${name}`, schema, values: undefined };
  }
}

async function* readFiles(paths: readonly string[]): AsyncGenerator<Input> {
  for (const path of paths) {
    if ((await stat(path)).isDirectory()) yield* readFiles(await listJson(path));
    else if (/\.(jsonl|ndjson)$/i.test(path)) yield* readLines(path);
    else yield parseInput(path, await readFile(path, "utf8"));
  }
}

async function listJson(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  entries.sort((one, other) => (one.name < other.name ? -1 : 1));
  return entries
    .filter((entry) => entry.isDirectory() || (entry.isFile() && /\.json$/i.test(entry.name)))
    .map((entry) => join(folder, entry.name));
}

async function* readLines(path: string): AsyncGenerator<Input> {
  let number = 0;
  for await (const line of splitLines(createReadStream(path, "utf8"))) {
    number += 1;
    if (line.trim() !== "") yield parseInput(`${path}:${number}`, line);
  }
}

/** Splits at line feeds only. `node:readline` also splits at U+2028 and U+2029, which JSON strings may contain. */
async function* splitLines(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = "";
  for await (const chunk of chunks) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  yield rest;
}

function parseInput(source: string, text: string): Input {
  let json: unknown;
  try {
    json = JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    return { source, unreadable: error instanceof Error ? error.message : String(error) };
  }
  if (isSample(json)) return { source, schema: json.schema, values: json.values };
  return { source, schema: json, values: undefined };
}

const isSample = (json: unknown): json is { schema: unknown; values?: unknown[] } =>
  typeof json === "object" &&
  json !== null &&
  "schema" in json &&
  !("type" in json) &&
  !("$schema" in json) &&
  (!("values" in json) || Array.isArray(json.values));
