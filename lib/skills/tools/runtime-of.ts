import type { Runtime } from "#lib/sandbox/sandbox-service.ts";

const BY_EXTENSION: ReadonlyMap<string, Runtime> = new Map([
  ["mjs", "node"],
  ["js", "node"],
  ["cjs", "node"],
  ["py", "python3"],
  ["sh", "bash"],
  ["bash", "bash"],
]);

/**
 * The runtime of a script without an extension, by the first line of the script. The service starts this runtime, and
 * never the program that the line names.
 */
const BY_FIRST_LINE: ReadonlyMap<string, Runtime> = new Map([
  ["#!/usr/bin/env node", "node"],
  ["#!/usr/bin/node", "node"],
  ["#!/usr/bin/env python3", "python3"],
  ["#!/usr/bin/python3", "python3"],
  ["#!/usr/bin/env bash", "bash"],
  ["#!/usr/bin/bash", "bash"],
  ["#!/bin/bash", "bash"],
  ["#!/bin/sh", "bash"],
]);

/**
 * Selects the runtime of a script by its extension or, if it has no extension, by its first line. Undefined if the
 * script is not supported.
 */
export function runtimeOf(path: string, bytes: Uint8Array): Runtime | undefined {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const dot = name.lastIndexOf(".");
  if (dot > 0) return BY_EXTENSION.get(name.slice(dot + 1).toLowerCase());
  const [line = ""] = Buffer.from(bytes.subarray(0, 200)).toString("latin1").split("\n");
  return BY_FIRST_LINE.get(line.trimEnd());
}
